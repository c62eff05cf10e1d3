-- Checksums of rows that hold a user's words. The program computes them: a letter that changes on the disk changes
-- no page's structure, and nothing else would notice it.
ALTER TABLE scope ADD COLUMN checksum INTEGER;
ALTER TABLE memory ADD COLUMN checksum INTEGER;
ALTER TABLE observation ADD COLUMN checksum INTEGER;
ALTER TABLE relation ADD COLUMN checksum INTEGER;
ALTER TABLE revision ADD COLUMN checksum INTEGER;

-- How many transactions were committed. The same number stands in a file beside the store while its log is in use:
-- where that one is higher, the log was lost.
CREATE TABLE change_number (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL
) STRICT;
INSERT INTO change_number VALUES (1, 0);
