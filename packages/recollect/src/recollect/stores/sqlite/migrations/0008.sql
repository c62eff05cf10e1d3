-- Our own word index instead of FTS5: postings of a term are read once, and all stores have the same rows. The
-- program fills it.

-- The words of a scope's texts, and pairs of letters for scripts without spaces.
CREATE TABLE term (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_id INTEGER NOT NULL REFERENCES scope(id) ON DELETE CASCADE,
  pair     INTEGER NOT NULL CHECK (pair IN (0, 1)),
  stem     TEXT NOT NULL,  -- of a word, its stem; of a pair, the pair
  term     TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX term_by_stem ON term(scope_id, pair, stem, term);

-- The memories that contain a term: packed blocks of ascending ids.
CREATE TABLE posting (
  term_id  INTEGER NOT NULL REFERENCES term(id) ON DELETE CASCADE,
  first_id INTEGER NOT NULL,  -- the lowest memory of the block
  count    INTEGER NOT NULL,  -- memories in the block
  packed   BLOB NOT NULL,
  PRIMARY KEY (term_id, first_id)
) STRICT, WITHOUT ROWID;

-- The terms of each memory, in order. The newest rows are not in the postings yet, and are merged later. No
-- foreign key: when a memory is deleted, the program needs its terms.
CREATE TABLE document (
  memory_id INTEGER PRIMARY KEY,
  scope_id  INTEGER NOT NULL REFERENCES scope(id) ON DELETE CASCADE,
  kind      TEXT NOT NULL,
  merged    INTEGER NOT NULL CHECK (merged IN (0, 1)),
  words     BLOB NOT NULL,  -- little-endian uint32, one for each word
  pairs     BLOB NOT NULL
) STRICT;
CREATE INDEX document_unmerged ON document(scope_id, memory_id) WHERE merged = 0;

-- The size of each scope's index.
ALTER TABLE scope ADD COLUMN documents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN paired INTEGER NOT NULL DEFAULT 0;  -- documents with pairs
ALTER TABLE scope ADD COLUMN pairs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN unmerged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN entities INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
