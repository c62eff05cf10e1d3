-- Tables and columns get the names that the program uses. Policies, rights and foreign keys follow a table;
-- its constraints, indexes and sequences are renamed here. No row is rewritten.

ALTER INDEX {schema}.shadow_by_scope RENAME TO shadow_by_profile;

DO $$
DECLARE
  given record;
  part text;
  owner regclass;
BEGIN
  FOR given IN SELECT * FROM (VALUES
    ('applied', 'receipt', 'outcomes'), ('mention', 'told', 'explicit'), ('shadow', 'before', 'bytes_before'),
    ('feedback', 'shadow_id', 'answer_id'), ('scope', 'last_life', 'last_vector_change')
  ) AS columns(tab, old, new)
  LOOP
    owner := format('{schema}.%I', given.tab)::regclass;
    EXECUTE format('ALTER TABLE %s RENAME COLUMN %I TO %I', owner, given.old, given.new);
    FOR part IN SELECT conname FROM pg_constraint WHERE conrelid = owner AND conname LIKE '%\_' || given.old || '\_%'
    LOOP
      EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', owner, part, replace(part, given.old, given.new));
    END LOOP;
  END LOOP;

  FOR given IN SELECT * FROM (VALUES
    ('applied', 'receipt'), ('due', 'pending_vector'), ('past', 'history_stamp'), ('recalled', 'recall_hit'),
    ('shadow', 'answer_log'), ('together', 'cooccurrence'), ('tuned', 'tuning'), ('use', 'usage'),
    ('use_day', 'usage_day'), ('vector_life', 'vector_change')
  ) AS tables(old, new)
  LOOP
    owner := format('{schema}.%I', given.old)::regclass;
    EXECUTE format('ALTER TABLE %s RENAME TO %I', owner, given.new);
    FOR part IN SELECT conname FROM pg_constraint WHERE conrelid = owner AND starts_with(conname, given.old || '_')
    LOOP
      EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', owner, part,
        given.new || substr(part, length(given.old) + 1));
    END LOOP;
    FOR part IN SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
      WHERE i.indrelid = owner AND starts_with(c.relname, given.old || '_')
    LOOP
      EXECUTE format('ALTER INDEX {schema}.%I RENAME TO %I', part,
        given.new || substr(part, length(given.old) + 1));
    END LOOP;
    EXECUTE format('ALTER SEQUENCE IF EXISTS {schema}.%I RENAME TO %I', given.old || '_id_seq', given.new || '_id_seq');
  END LOOP;
END $$;
