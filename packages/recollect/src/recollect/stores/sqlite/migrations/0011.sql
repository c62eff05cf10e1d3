-- Checksums of users' texts, computed by the program. Nothing else detects a letter that changed on the disk.
ALTER TABLE scope ADD COLUMN checksum INTEGER;
ALTER TABLE memory ADD COLUMN checksum INTEGER;
ALTER TABLE observation ADD COLUMN checksum INTEGER;
ALTER TABLE relation ADD COLUMN checksum INTEGER;
ALTER TABLE revision ADD COLUMN checksum INTEGER;

-- The number of committed transactions. A file beside the store has the same number while the log is in use. If
-- that one is higher, the log was lost.
CREATE TABLE change_number (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL
) STRICT;
INSERT INTO change_number VALUES (1, 0);
