-- The ordinal of each answer in its scope, since the number of kept answers is limited per scope. Ids count for the
-- whole store: with them, a busy scope would shorten the log of a quiet one.

ALTER TABLE {schema}.recall ADD COLUMN ordinal bigint NOT NULL DEFAULT 0;
UPDATE {schema}.recall AS r SET ordinal = numbered.ordinal FROM (
  SELECT scope_id, id, row_number() OVER (PARTITION BY scope_id ORDER BY id) AS ordinal FROM {schema}.recall
) AS numbered WHERE numbered.scope_id = r.scope_id AND numbered.id = r.id;

-- The size of earlier rows is now that of the scope, too.
ALTER TABLE {schema}.shadow ADD COLUMN ordinal bigint NOT NULL DEFAULT 0;
UPDATE {schema}.shadow AS r SET ordinal = numbered.ordinal, before = numbered.before FROM (
  SELECT scope_id, id, row_number() OVER of_scope AS ordinal, (sum(bytes) OVER of_scope - bytes)::bigint AS before
  FROM {schema}.shadow WINDOW of_scope AS (PARTITION BY scope_id ORDER BY id)
) AS numbered WHERE numbered.scope_id = r.scope_id AND numbered.id = r.id;
