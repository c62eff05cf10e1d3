-- Drop two indexes that a planner without statistics prefers to the right ones: by the first it checked foreign
-- keys, and by the second it looked up vectors, each by reading the whole scope.
CREATE INDEX IF NOT EXISTS memory_by_kind ON {schema}.memory(kind, scope_id);
DROP INDEX IF EXISTS {schema}.memory_by_scope;
DROP INDEX IF EXISTS {schema}.vector_by_model;
