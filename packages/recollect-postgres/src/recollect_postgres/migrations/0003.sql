-- Checksums of users' texts, computed by the program. Nothing else detects a letter that changed on the disk.
ALTER TABLE {schema}.scope ADD COLUMN checksum bigint;
ALTER TABLE {schema}.memory ADD COLUMN checksum bigint;
ALTER TABLE {schema}.observation ADD COLUMN checksum bigint;
ALTER TABLE {schema}.relation ADD COLUMN checksum bigint;
ALTER TABLE {schema}.revision ADD COLUMN checksum bigint;
