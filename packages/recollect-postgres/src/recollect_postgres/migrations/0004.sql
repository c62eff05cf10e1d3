-- When a note is no longer to be found; it stays, and a look at the past still finds it.
ALTER TABLE {schema}.memory ADD COLUMN expires_at bigint;
CREATE INDEX memory_expiring ON {schema}.memory(scope_id, expires_at) WHERE expires_at IS NOT NULL;
