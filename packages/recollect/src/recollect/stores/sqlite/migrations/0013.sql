-- By which the program that stored a note knows it, and what else a caller keeps with a note or message, as JSON.
ALTER TABLE memory ADD COLUMN ref TEXT;
ALTER TABLE memory ADD COLUMN metadata TEXT;
CREATE INDEX memory_by_ref ON memory(scope_id, ref) WHERE ref IS NOT NULL;
