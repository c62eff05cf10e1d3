-- Notes and conversations: former texts, tags, mentions of entities, corrections.

ALTER TABLE memory ADD COLUMN undated INTEGER NOT NULL DEFAULT 0 CHECK (undated IN (0, 1));  -- the time of saying is unknown
ALTER TABLE memory ADD COLUMN drawn_from INTEGER;  -- the message that a note was drawn from; no foreign key
ALTER TABLE memory ADD COLUMN similar_to INTEGER REFERENCES memory(id) ON DELETE SET NULL;
ALTER TABLE memory ADD COLUMN similarity REAL;
CREATE INDEX memory_similar_to ON memory(similar_to) WHERE similar_to IS NOT NULL;
CREATE INDEX memory_drawn_from ON memory(drawn_from) WHERE drawn_from IS NOT NULL;
CREATE INDEX memory_by_time ON memory(scope_id, coalesce(happened_at, created_at)) WHERE kind <> 'entity';
CREATE INDEX memory_superseded ON memory(superseded_at) WHERE superseded_at IS NOT NULL;
CREATE INDEX message_by_source ON memory(scope_id, session, source) WHERE kind = 'message' AND source IS NOT NULL;

-- The memory that corrected an observation which repeated an error.
ALTER TABLE observation ADD COLUMN corrected_by INTEGER;
CREATE INDEX observation_by_time ON observation(created_at);
CREATE INDEX observation_superseded ON observation(superseded_at) WHERE superseded_at IS NOT NULL;

-- Former texts of notes and messages, and when they were current.
CREATE TABLE revision (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  text      TEXT NOT NULL,
  since     INTEGER NOT NULL,
  until     INTEGER NOT NULL
) STRICT;
CREATE INDEX revision_by_memory ON revision(memory_id, id);
CREATE INDEX revision_by_end ON revision(until);

-- Passages of a former text are never live. They keep their vectors for queries about the past.
ALTER TABLE passage ADD COLUMN revision_id INTEGER REFERENCES revision(id) ON DELETE CASCADE;
CREATE INDEX passage_by_revision ON passage(revision_id) WHERE revision_id IS NOT NULL;

-- Times in which a memory was forgotten or superseded, before it was restored.
CREATE TABLE absence (
  memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  since     INTEGER NOT NULL,
  why       TEXT NOT NULL CHECK (why IN ('forgotten', 'superseded')),
  until     INTEGER NOT NULL,
  PRIMARY KEY (memory_id, since, why)
) STRICT, WITHOUT ROWID;

CREATE TABLE tag (
  memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  folded    TEXT NOT NULL,
  tag       TEXT NOT NULL,
  PRIMARY KEY (memory_id, folded)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_by_word ON tag(folded, memory_id);

-- Entities that a note or message is about: given by the caller, or named in the text.
CREATE TABLE mention (
  memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  entity_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  told      INTEGER NOT NULL CHECK (told IN (0, 1)),
  PRIMARY KEY (memory_id, entity_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_by_entity ON mention(entity_id, memory_id);
