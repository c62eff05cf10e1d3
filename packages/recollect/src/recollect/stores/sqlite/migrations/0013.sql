-- A program's own name for a note, and the metadata of a note or message, as JSON.
ALTER TABLE memory ADD COLUMN ref TEXT;
ALTER TABLE memory ADD COLUMN metadata TEXT;
CREATE INDEX memory_by_ref ON memory(scope_id, ref) WHERE ref IS NOT NULL;
