-- When a note expires. It stays in the store, and queries about the past still find it.
ALTER TABLE {schema}.memory ADD COLUMN expires_at bigint;
CREATE INDEX memory_expiring ON {schema}.memory(scope_id, expires_at) WHERE expires_at IS NOT NULL;
