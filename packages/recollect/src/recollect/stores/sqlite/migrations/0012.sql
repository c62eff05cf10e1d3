-- When a note expires. It stays in the store, and queries about the past still find it.
ALTER TABLE memory ADD COLUMN expires_at INTEGER;
CREATE INDEX memory_expiring ON memory(expires_at) WHERE expires_at IS NOT NULL;
