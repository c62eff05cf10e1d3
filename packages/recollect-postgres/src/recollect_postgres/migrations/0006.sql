-- By which the program that stored a note knows it, and what else a caller keeps with a note or message, as JSON.
ALTER TABLE {schema}.memory ADD COLUMN IF NOT EXISTS ref text COLLATE "C";
ALTER TABLE {schema}.memory ADD COLUMN IF NOT EXISTS metadata text COLLATE "C";
CREATE INDEX IF NOT EXISTS memory_by_ref ON {schema}.memory(scope_id, md5(ref)) WHERE ref IS NOT NULL;
