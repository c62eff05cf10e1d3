-- Checksums of rows that hold a user's words. The program computes them: a letter that changes on the disk changes
-- no page's structure, and nothing else would notice it.
ALTER TABLE {schema}.scope ADD COLUMN checksum bigint;
ALTER TABLE {schema}.memory ADD COLUMN checksum bigint;
ALTER TABLE {schema}.observation ADD COLUMN checksum bigint;
ALTER TABLE {schema}.relation ADD COLUMN checksum bigint;
ALTER TABLE {schema}.revision ADD COLUMN checksum bigint;
