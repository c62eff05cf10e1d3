-- The ordinal of each answer in its scope, since the number of kept answers is limited per scope. Ids count for the
-- whole store: with them, a busy scope would shorten the log of a quiet one.

-- Answers of the first versions get the scope of their hits. Those without hits are deleted.
UPDATE recall SET scope_id = (
  SELECT m.scope_id FROM recalled AS s JOIN memory AS m ON m.id = s.memory_id
  WHERE s.recall_id = recall.id ORDER BY s.place LIMIT 1
) WHERE scope_id IS NULL;
DELETE FROM recall WHERE scope_id IS NULL;

ALTER TABLE recall ADD COLUMN ordinal INTEGER NOT NULL DEFAULT 0;
UPDATE recall SET ordinal = numbered.ordinal FROM (
  SELECT id, row_number() OVER (PARTITION BY scope_id ORDER BY id) AS ordinal FROM recall
) AS numbered WHERE numbered.id = recall.id;
DROP INDEX recall_by_scope;
CREATE INDEX recall_by_scope ON recall(scope_id, id);

-- The size of earlier rows is now that of the scope, too.
ALTER TABLE shadow ADD COLUMN ordinal INTEGER NOT NULL DEFAULT 0;
UPDATE shadow SET ordinal = numbered.ordinal, before = numbered.before FROM (
  SELECT id, row_number() OVER of_scope AS ordinal, sum(bytes) OVER of_scope - bytes AS before
  FROM shadow WINDOW of_scope AS (PARTITION BY scope_id ORDER BY id)
) AS numbered WHERE numbered.id = shadow.id;
CREATE INDEX shadow_of_scope ON shadow(scope_id, id);
