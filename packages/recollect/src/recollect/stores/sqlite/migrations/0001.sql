-- The first schema. Times are whole microseconds since 1970, UTC.

CREATE TABLE setting (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Keys of earlier writes with their results, so that a retry is not applied twice.
CREATE TABLE applied (
  key     TEXT PRIMARY KEY,
  digest  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  receipt TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX applied_by_time ON applied(at);

-- Each scope has its own full-text indexes (words_ID, stems_ID, pairs_ID), so that texts of other scopes do not
-- affect its scores.
CREATE TABLE scope (
  id    INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  UNIQUE (owner, agent)
) STRICT;

CREATE TABLE memory (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  kind           TEXT NOT NULL CHECK (kind IN ('entity', 'note', 'message')),
  scope_id       INTEGER NOT NULL REFERENCES scope(id),
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  happened_at    INTEGER,
  name           TEXT NOT NULL DEFAULT '',
  folded_name    TEXT NOT NULL DEFAULT '',
  type           TEXT NOT NULL DEFAULT '',
  text           TEXT NOT NULL DEFAULT '',
  text_key       INTEGER,  -- a hash of the text, to find equal notes
  category       TEXT,
  source         TEXT,
  session        TEXT,
  position       INTEGER,
  role           TEXT,
  speaker        TEXT,
  status         TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'completed', 'archived')),
  consolidation  TEXT NOT NULL DEFAULT 'staged' CHECK (consolidation IN ('staged', 'consolidated', 'archived')),
  strength       REAL NOT NULL DEFAULT 1.0 CHECK (strength BETWEEN 0 AND 1),
  depth          INTEGER NOT NULL DEFAULT 2 CHECK (depth BETWEEN 1 AND 3),
  spread         INTEGER NOT NULL DEFAULT 1 CHECK (spread >= 1),
  stability      REAL NOT NULL DEFAULT 1.0 CHECK (stability > 0),
  importance     REAL NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
  importance_tag TEXT,
  pinned         INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  revisions      INTEGER NOT NULL DEFAULT 0,
  duplicates     INTEGER NOT NULL DEFAULT 0,
  superseded_by  INTEGER,  -- a memory; no foreign key, since an import may bring it later
  superseded_at  INTEGER,
  deleted_at     INTEGER,
  CHECK ((kind = 'entity') = (name <> ''))
) STRICT;
CREATE UNIQUE INDEX entity_by_name ON memory(scope_id, name) WHERE kind = 'entity' AND deleted_at IS NULL;
CREATE INDEX entity_by_folded_name ON memory(scope_id, folded_name) WHERE kind = 'entity';
CREATE INDEX message_by_session ON memory(scope_id, session, position) WHERE session IS NOT NULL;
CREATE INDEX memory_by_text ON memory(scope_id, text_key) WHERE text_key IS NOT NULL;
CREATE INDEX memory_forgotten ON memory(deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX memory_by_scope ON memory(scope_id, kind);
CREATE INDEX memory_superseded_by ON memory(superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE observation (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_id     INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  content       TEXT NOT NULL,
  kind          TEXT NOT NULL DEFAULT 'generic',
  created_at    INTEGER NOT NULL,
  happened_at   INTEGER,
  superseded_by INTEGER REFERENCES observation(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
  superseded_at INTEGER,
  similar_to    INTEGER REFERENCES observation(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
  similarity    REAL,
  deleted_at    INTEGER
) STRICT;
CREATE INDEX observation_by_memory ON observation(memory_id, id);
CREATE INDEX observation_superseded_by ON observation(superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX observation_similar_to ON observation(similar_to) WHERE similar_to IS NOT NULL;
CREATE INDEX observation_forgotten ON observation(deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE relation (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id  INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  target_id  INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  type       TEXT NOT NULL,
  context    TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  since      INTEGER,
  until      INTEGER,
  inverse_of INTEGER REFERENCES relation(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
  deleted_at INTEGER
) STRICT;
-- A relation that has ended may begin again, so only current ones are unique.
CREATE UNIQUE INDEX relation_in_force ON relation(source_id, target_id, type)
  WHERE until IS NULL AND deleted_at IS NULL;
CREATE INDEX relation_by_source ON relation(source_id, target_id, type);
CREATE INDEX relation_by_target ON relation(target_id);
CREATE INDEX relation_inverse_of ON relation(inverse_of) WHERE inverse_of IS NOT NULL;
CREATE INDEX relation_forgotten ON relation(deleted_at) WHERE deleted_at IS NOT NULL;

-- Parts of texts that get vectors. A passage never changes: a changed text gets new passages, so that no vector
-- of the old text is stored for it.
CREATE TABLE passage (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_id      INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  observation_id INTEGER REFERENCES observation(id) ON DELETE CASCADE,
  start          INTEGER NOT NULL,
  stop           INTEGER NOT NULL,
  live           INTEGER NOT NULL DEFAULT 1 CHECK (live IN (0, 1))
) STRICT;
CREATE INDEX passage_by_memory ON passage(memory_id);
CREATE INDEX passage_by_observation ON passage(observation_id) WHERE observation_id IS NOT NULL;

-- Passages that still need a vector of the model in use.
CREATE TABLE due (
  passage_id INTEGER PRIMARY KEY REFERENCES passage(id) ON DELETE CASCADE
) STRICT;

-- Ids are never reused, so that no cache mixes the vectors of two models.
CREATE TABLE model (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  name   TEXT NOT NULL UNIQUE,
  dims   INTEGER NOT NULL CHECK (dims > 0),
  centre BLOB,
  in_use INTEGER NOT NULL DEFAULT 0 CHECK (in_use IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX model_in_use ON model(in_use) WHERE in_use = 1;

-- The rotation of a model's vectors before they are cut: little-endian float16, dims / 3 rows of dims. In its own
-- table, since every search reads the row of the model, which is a hundred times smaller.
CREATE TABLE rotation (
  model_id INTEGER PRIMARY KEY REFERENCES model(id) ON DELETE CASCADE,
  packed   BLOB NOT NULL
) STRICT;

-- Vectors: little-endian float32, of length one. Ids only grow, so a cache finds new vectors by its highest id.
CREATE TABLE vector (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  model_id   INTEGER NOT NULL REFERENCES model(id),
  passage_id INTEGER NOT NULL REFERENCES passage(id) ON DELETE CASCADE,
  embedding  BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vector_by_passage ON vector(passage_id, model_id);
CREATE INDEX vector_by_model ON vector(model_id, id);

-- Vectors whose passage became dead, live or deleted, for caches.
CREATE TABLE vector_life (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  vector_id INTEGER NOT NULL
) STRICT;
