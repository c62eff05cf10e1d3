-- Measuring and tuning: answers with both rankings, what became of them, tuned numbers, calibration.

-- An answer as it was given, and as it would have been given otherwise. Bounded in number, size and age.
CREATE TABLE shadow (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_id   INTEGER NOT NULL REFERENCES scope(id) ON DELETE CASCADE,
  at         INTEGER NOT NULL,
  bytes      INTEGER NOT NULL,            -- what this row takes, about
  before     INTEGER NOT NULL,            -- what all rows took that were ever logged before it
  handle     TEXT NOT NULL,               -- by which its caller names it
  session    TEXT NOT NULL,
  query      TEXT NOT NULL,
  profile    TEXT NOT NULL,
  version    INTEGER NOT NULL DEFAULT 0,  -- of the tuned numbers that ranked; 0: as published
  arm        TEXT NOT NULL CHECK (arm IN ('ours', 'baseline', 'interleaved')),
  against    TEXT NOT NULL,               -- what the baseline is
  shown      TEXT NOT NULL,               -- JSON list of ids, as the caller saw them
  ranked     TEXT NOT NULL,               -- the same by the profile
  baseline   TEXT NOT NULL,               -- the same by what it is compared with
  candidates BLOB NOT NULL                -- compressed: all that the ranking read, to rank again
) STRICT;
CREATE INDEX shadow_by_scope ON shadow(scope_id, profile, id);
CREATE INDEX shadow_by_session ON shadow(session, id);
CREATE INDEX shadow_by_time ON shadow(at);
CREATE INDEX shadow_by_handle ON shadow(handle);

-- What the hash of a query is mixed with that decides which ranking it gets. Made once for each store.
INSERT INTO setting VALUES ('trial_seed', lower(hex(randomblob(8))));

-- What a caller did with what it was shown.
CREATE TABLE feedback (
  id        INTEGER PRIMARY KEY,
  shadow_id INTEGER NOT NULL REFERENCES shadow(id) ON DELETE CASCADE,
  memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  at        INTEGER NOT NULL,
  kind      TEXT NOT NULL CHECK (kind IN ('opened', 'recalled', 'said')),
  grade     REAL NOT NULL CHECK (grade BETWEEN -1 AND 1),
  UNIQUE (shadow_id, memory_id, kind)
) STRICT;
CREATE INDEX feedback_by_memory ON feedback(memory_id);

-- Every set of numbers that a profile was given; the newest holds, and an empty one is the published profile.
CREATE TABLE tuned (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_id INTEGER NOT NULL REFERENCES scope(id) ON DELETE CASCADE,
  profile  TEXT NOT NULL,
  at       INTEGER NOT NULL,
  knobs    TEXT NOT NULL,  -- JSON: number by name
  why      TEXT NOT NULL CHECK (why IN ('run', 'set', 'reset', 'rollback')),
  report   TEXT NOT NULL   -- JSON, for people to read
) STRICT;
CREATE INDEX tuned_by_profile ON tuned(scope_id, profile, id);

-- How scores of a scope's own texts lie where there is an answer and where there is none.
CREATE TABLE calibration (
  scope_id INTEGER NOT NULL REFERENCES scope(id) ON DELETE CASCADE,
  model    TEXT NOT NULL,  -- '' where meaning is not searched
  at       INTEGER NOT NULL,
  memories INTEGER NOT NULL,  -- how many there were
  value    TEXT NOT NULL,     -- JSON
  PRIMARY KEY (scope_id, model)
) STRICT, WITHOUT ROWID;
