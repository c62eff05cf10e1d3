-- Tuning: answers with both rankings, feedback, tuned numbers, calibration.

-- An answer with the ranking of the profile and of the baseline. Bounded in number, size and age.
CREATE TABLE shadow (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_id   INTEGER NOT NULL REFERENCES scope(id) ON DELETE CASCADE,
  at         INTEGER NOT NULL,
  bytes      INTEGER NOT NULL,            -- about the size of this row
  before     INTEGER NOT NULL,            -- the size of all earlier rows
  handle     TEXT NOT NULL,               -- a name for the caller
  session    TEXT NOT NULL,
  query      TEXT NOT NULL,
  profile    TEXT NOT NULL,
  version    INTEGER NOT NULL DEFAULT 0,  -- of the tuned numbers; 0: published
  arm        TEXT NOT NULL CHECK (arm IN ('ours', 'baseline', 'interleaved')),
  against    TEXT NOT NULL,               -- the name of the baseline
  shown      TEXT NOT NULL,               -- JSON list of ids, as shown
  ranked     TEXT NOT NULL,               -- the same, ranked by the profile
  baseline   TEXT NOT NULL,               -- the same, ranked by the baseline
  candidates BLOB NOT NULL                -- compressed, to rank them again
) STRICT;
CREATE INDEX shadow_by_scope ON shadow(scope_id, profile, id);
CREATE INDEX shadow_by_session ON shadow(session, id);
CREATE INDEX shadow_by_time ON shadow(at);
CREATE INDEX shadow_by_handle ON shadow(handle);

-- The seed of the hash that assigns a query to an arm of a trial. Made once for each store.
INSERT INTO setting VALUES ('trial_seed', lower(hex(randomblob(8))));

-- Feedback of callers on memories that they were shown.
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

-- Every set of tuned numbers of a profile. The newest counts; an empty one means the published numbers.
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

-- The distribution of scores in a scope, with and without an answer.
CREATE TABLE calibration (
  scope_id INTEGER NOT NULL REFERENCES scope(id) ON DELETE CASCADE,
  model    TEXT NOT NULL,  -- '' without search by meaning
  at       INTEGER NOT NULL,
  memories INTEGER NOT NULL,  -- how many there were
  value    TEXT NOT NULL,     -- JSON
  PRIMARY KEY (scope_id, model)
) STRICT, WITHOUT ROWID;
