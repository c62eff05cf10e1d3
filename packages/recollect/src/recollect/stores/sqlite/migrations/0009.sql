-- A random number that changes with everything that only queries about the past read, so that a process can cache
-- it. A counter would not do: diverged copies of a store could reach the same count.
CREATE TABLE past (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  stamp INTEGER NOT NULL
) STRICT;
INSERT INTO past VALUES (1, random());

CREATE TRIGGER past_memory_new AFTER INSERT ON memory
  WHEN NEW.deleted_at IS NOT NULL OR NEW.superseded_at IS NOT NULL
  BEGIN UPDATE past SET stamp = random(); END;
CREATE TRIGGER past_memory_changed
  AFTER UPDATE OF kind, scope_id, created_at, name, type, text, speaker, superseded_at, deleted_at ON memory
  BEGIN UPDATE past SET stamp = random(); END;
CREATE TRIGGER past_memory_gone AFTER DELETE ON memory BEGIN UPDATE past SET stamp = random(); END;

CREATE TRIGGER past_observation_new AFTER INSERT ON observation BEGIN UPDATE past SET stamp = random(); END;
CREATE TRIGGER past_observation_changed
  AFTER UPDATE OF memory_id, content, created_at, superseded_at, deleted_at ON observation
  BEGIN UPDATE past SET stamp = random(); END;
CREATE TRIGGER past_observation_gone AFTER DELETE ON observation BEGIN UPDATE past SET stamp = random(); END;

CREATE TRIGGER past_revision_new AFTER INSERT ON revision BEGIN UPDATE past SET stamp = random(); END;
CREATE TRIGGER past_revision_changed AFTER UPDATE ON revision BEGIN UPDATE past SET stamp = random(); END;
CREATE TRIGGER past_revision_gone AFTER DELETE ON revision BEGIN UPDATE past SET stamp = random(); END;

CREATE TRIGGER past_absence_new AFTER INSERT ON absence BEGIN UPDATE past SET stamp = random(); END;
CREATE TRIGGER past_absence_changed AFTER UPDATE ON absence BEGIN UPDATE past SET stamp = random(); END;
CREATE TRIGGER past_absence_gone AFTER DELETE ON absence BEGIN UPDATE past SET stamp = random(); END;

CREATE TRIGGER past_passage_changed
  AFTER UPDATE OF memory_id, observation_id, revision_id, live ON passage
  BEGIN UPDATE past SET stamp = random(); END;
CREATE TRIGGER past_passage_gone AFTER DELETE ON passage BEGIN UPDATE past SET stamp = random(); END;

-- Only queries about the present read a new vector of a current note or message. The vector of an entity's name is
-- different: the entity may have lost an observation since.
CREATE TRIGGER past_vector_new AFTER INSERT ON vector
  WHEN (
    SELECT p.live = 0 OR m.kind = 'entity' FROM passage AS p JOIN memory AS m ON m.id = p.memory_id
    WHERE p.id = NEW.passage_id
  )
  BEGIN UPDATE past SET stamp = random(); END;
CREATE TRIGGER past_vector_changed AFTER UPDATE ON vector BEGIN UPDATE past SET stamp = random(); END;
CREATE TRIGGER past_vector_gone AFTER DELETE ON vector BEGIN UPDATE past SET stamp = random(); END;
