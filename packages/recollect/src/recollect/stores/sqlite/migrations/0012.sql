-- When a note is no longer to be found; it stays, and a look at the past still finds it.
ALTER TABLE memory ADD COLUMN expires_at INTEGER;
CREATE INDEX memory_expiring ON memory(expires_at) WHERE expires_at IS NOT NULL;
