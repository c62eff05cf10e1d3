-- Usage: what callers were shown. Ranking and dreams read it.

CREATE TABLE use (
  memory_id INTEGER PRIMARY KEY REFERENCES memory(id) ON DELETE CASCADE,
  count     INTEGER NOT NULL,
  last_at   INTEGER NOT NULL
) STRICT;

-- The UTC days on which a memory was used, as days since 1970.
CREATE TABLE use_day (
  memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  day       INTEGER NOT NULL,
  PRIMARY KEY (memory_id, day)
) STRICT, WITHOUT ROWID;

-- Pairs that were shown in one answer, the lower id first.
CREATE TABLE together (
  first_id  INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  second_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  count     INTEGER NOT NULL,
  last_at   INTEGER NOT NULL,
  PRIMARY KEY (first_id, second_id),
  CHECK (first_id < second_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX together_by_second ON together(second_id);

-- Each answer and its hits. Dreams replay them, and count the sessions of a memory.
CREATE TABLE recall (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  at      INTEGER NOT NULL,
  session TEXT NOT NULL
) STRICT;
CREATE TABLE recalled (
  memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
  recall_id INTEGER NOT NULL REFERENCES recall(id) ON DELETE CASCADE,
  place     INTEGER NOT NULL,
  PRIMARY KEY (memory_id, recall_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX recalled_by_recall ON recalled(recall_id);
