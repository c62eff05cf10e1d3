-- A program's own name for a note, and the metadata of a note or message, as JSON.
ALTER TABLE {schema}.memory ADD COLUMN IF NOT EXISTS ref text COLLATE "C";
ALTER TABLE {schema}.memory ADD COLUMN IF NOT EXISTS metadata text COLLATE "C";
CREATE INDEX IF NOT EXISTS memory_by_ref ON {schema}.memory(scope_id, md5(ref)) WHERE ref IS NOT NULL;
