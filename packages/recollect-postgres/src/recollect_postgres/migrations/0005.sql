-- Two indexes that a planner without statistics prefers to the right ones, of stores that were made with them: by the
-- first it checked each foreign key by reading the whole scope, by the second it looked vectors up so.
CREATE INDEX IF NOT EXISTS memory_by_kind ON {schema}.memory(kind, scope_id);
DROP INDEX IF EXISTS {schema}.memory_by_scope;
DROP INDEX IF EXISTS {schema}.vector_by_model;
