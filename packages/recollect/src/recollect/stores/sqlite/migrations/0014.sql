-- Tables, columns, indexes and triggers get the names that the program uses. Only indexes are built again: SQLite
-- cannot rename one.

ALTER TABLE applied RENAME TO receipt;
ALTER TABLE receipt RENAME COLUMN receipt TO outcomes;
DROP INDEX applied_by_time;
CREATE INDEX receipt_by_time ON receipt(at);

ALTER TABLE due RENAME TO pending_vector;
ALTER TABLE vector_life RENAME TO vector_change;
ALTER TABLE mention RENAME COLUMN told TO explicit;

ALTER TABLE use RENAME TO usage;
ALTER TABLE use_day RENAME TO usage_day;
ALTER TABLE together RENAME TO cooccurrence;
DROP INDEX together_by_second;
CREATE INDEX cooccurrence_by_second ON cooccurrence(second_id);
ALTER TABLE recalled RENAME TO recall_hit;
DROP INDEX recalled_by_recall;
CREATE INDEX recall_hit_by_recall ON recall_hit(recall_id);

ALTER TABLE shadow RENAME TO answer_log;
ALTER TABLE answer_log RENAME COLUMN before TO bytes_before;
ALTER TABLE feedback RENAME COLUMN shadow_id TO answer_id;
DROP INDEX shadow_by_scope;
DROP INDEX shadow_by_session;
DROP INDEX shadow_by_time;
DROP INDEX shadow_by_handle;
DROP INDEX shadow_of_scope;
CREATE INDEX answer_log_by_profile ON answer_log(scope_id, profile, id);
CREATE INDEX answer_log_by_session ON answer_log(session, id);
CREATE INDEX answer_log_by_time ON answer_log(at);
CREATE INDEX answer_log_by_handle ON answer_log(handle);
CREATE INDEX answer_log_by_scope ON answer_log(scope_id, id);

ALTER TABLE tuned RENAME TO tuning;
DROP INDEX tuned_by_profile;
CREATE INDEX tuning_by_profile ON tuning(scope_id, profile, id);

DROP TRIGGER past_memory_new;
DROP TRIGGER past_memory_changed;
DROP TRIGGER past_memory_gone;
DROP TRIGGER past_observation_new;
DROP TRIGGER past_observation_changed;
DROP TRIGGER past_observation_gone;
DROP TRIGGER past_revision_new;
DROP TRIGGER past_revision_changed;
DROP TRIGGER past_revision_gone;
DROP TRIGGER past_absence_new;
DROP TRIGGER past_absence_changed;
DROP TRIGGER past_absence_gone;
DROP TRIGGER past_passage_changed;
DROP TRIGGER past_passage_gone;
DROP TRIGGER past_vector_new;
DROP TRIGGER past_vector_changed;
DROP TRIGGER past_vector_gone;

-- A process caches what a query about the past reads, until this random number changes. A counter would not do:
-- copies of a store that are written separately could reach the same count.
ALTER TABLE past RENAME TO history_stamp;

CREATE TRIGGER history_memory_insert AFTER INSERT ON memory
  WHEN NEW.deleted_at IS NOT NULL OR NEW.superseded_at IS NOT NULL
  BEGIN UPDATE history_stamp SET stamp = random(); END;
CREATE TRIGGER history_memory_update
  AFTER UPDATE OF kind, scope_id, created_at, name, type, text, speaker, superseded_at, deleted_at ON memory
  BEGIN UPDATE history_stamp SET stamp = random(); END;
CREATE TRIGGER history_memory_delete AFTER DELETE ON memory
  BEGIN UPDATE history_stamp SET stamp = random(); END;

CREATE TRIGGER history_observation_insert AFTER INSERT ON observation
  BEGIN UPDATE history_stamp SET stamp = random(); END;
CREATE TRIGGER history_observation_update
  AFTER UPDATE OF memory_id, content, created_at, superseded_at, deleted_at ON observation
  BEGIN UPDATE history_stamp SET stamp = random(); END;
CREATE TRIGGER history_observation_delete AFTER DELETE ON observation
  BEGIN UPDATE history_stamp SET stamp = random(); END;

CREATE TRIGGER history_revision_insert AFTER INSERT ON revision
  BEGIN UPDATE history_stamp SET stamp = random(); END;
CREATE TRIGGER history_revision_update AFTER UPDATE ON revision
  BEGIN UPDATE history_stamp SET stamp = random(); END;
CREATE TRIGGER history_revision_delete AFTER DELETE ON revision
  BEGIN UPDATE history_stamp SET stamp = random(); END;

CREATE TRIGGER history_absence_insert AFTER INSERT ON absence
  BEGIN UPDATE history_stamp SET stamp = random(); END;
CREATE TRIGGER history_absence_update AFTER UPDATE ON absence
  BEGIN UPDATE history_stamp SET stamp = random(); END;
CREATE TRIGGER history_absence_delete AFTER DELETE ON absence
  BEGIN UPDATE history_stamp SET stamp = random(); END;

CREATE TRIGGER history_passage_update
  AFTER UPDATE OF memory_id, observation_id, revision_id, live ON passage
  BEGIN UPDATE history_stamp SET stamp = random(); END;
CREATE TRIGGER history_passage_delete AFTER DELETE ON passage
  BEGIN UPDATE history_stamp SET stamp = random(); END;

-- A new vector of a current note or message is read by queries about the present only. The vector of an entity's
-- name is not: the entity may have lost an observation since.
CREATE TRIGGER history_vector_insert AFTER INSERT ON vector
  WHEN (
    SELECT p.live = 0 OR m.kind = 'entity' FROM passage AS p JOIN memory AS m ON m.id = p.memory_id
    WHERE p.id = NEW.passage_id
  )
  BEGIN UPDATE history_stamp SET stamp = random(); END;
CREATE TRIGGER history_vector_update AFTER UPDATE ON vector
  BEGIN UPDATE history_stamp SET stamp = random(); END;
CREATE TRIGGER history_vector_delete AFTER DELETE ON vector
  BEGIN UPDATE history_stamp SET stamp = random(); END;
