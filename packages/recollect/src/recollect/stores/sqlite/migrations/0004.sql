-- Dreams: queries to replay, each dream with its journal, links, leases.

ALTER TABLE recall ADD COLUMN scope_id INTEGER REFERENCES scope(id) ON DELETE CASCADE;
ALTER TABLE recall ADD COLUMN query TEXT;
ALTER TABLE recall ADD COLUMN profile TEXT;
CREATE INDEX recall_by_scope ON recall(scope_id, id) WHERE query IS NOT NULL;

CREATE TABLE dream (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_id  INTEGER NOT NULL REFERENCES scope(id),
  at        INTEGER NOT NULL,
  through   INTEGER NOT NULL,  -- the newest answer that it replayed
  phases    TEXT NOT NULL,     -- a JSON list
  report    TEXT NOT NULL,     -- JSON, for people to read
  journal   BLOB NOT NULL,     -- compressed JSON: every change with before and after
  undone_at INTEGER
) STRICT;
CREATE INDEX dream_by_scope ON dream(scope_id, id);

-- The exponent that rankings applied to values of dreams. Unused since 0.3.0.
ALTER TABLE scope ADD COLUMN temper REAL NOT NULL DEFAULT 1 CHECK (temper BETWEEN 0 AND 1);

-- Memories that often come up together, the lower id first.
CREATE TABLE link (
  first_id  INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  second_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  weight    INTEGER NOT NULL CHECK (weight > 0),
  PRIMARY KEY (first_id, second_id),
  CHECK (first_id < second_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_by_second ON link(second_id);

-- Work that only one process at a time may do. The lease of a dead process expires.
CREATE TABLE lease (
  name   TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
