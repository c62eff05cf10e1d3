-- An index of words of our own, in place of tables of FTS5: what is read of a term is read once, and every store
-- keeps the same rows. The program fills it in.

-- The words that a scope's texts are made of, and the pairs of letters of other scripts.
CREATE TABLE term (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_id INTEGER NOT NULL REFERENCES scope(id) ON DELETE CASCADE,
  pair     INTEGER NOT NULL CHECK (pair IN (0, 1)),
  stem     TEXT NOT NULL,  -- of a word, without its English ending; of a pair, itself
  term     TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX term_by_stem ON term(scope_id, pair, stem, term);

-- In which memories a term stands: blocks of ascending ids, packed.
CREATE TABLE posting (
  term_id  INTEGER NOT NULL REFERENCES term(id) ON DELETE CASCADE,
  first_id INTEGER NOT NULL,  -- the lowest memory of the block
  count    INTEGER NOT NULL,  -- how many memories it holds
  packed   BLOB NOT NULL,
  PRIMARY KEY (term_id, first_id)
) STRICT, WITHOUT ROWID;

-- What the index holds of each memory: its terms, in order. What was written last is not in postings yet, but
-- merged into them by and by. No foreign key: the index is told when a memory goes, and needs to know its terms.
CREATE TABLE document (
  memory_id INTEGER PRIMARY KEY,
  scope_id  INTEGER NOT NULL REFERENCES scope(id) ON DELETE CASCADE,
  kind      TEXT NOT NULL,
  merged    INTEGER NOT NULL CHECK (merged IN (0, 1)),
  words     BLOB NOT NULL,  -- little-endian uint32, one for each word
  pairs     BLOB NOT NULL
) STRICT;
CREATE INDEX document_unmerged ON document(scope_id, memory_id) WHERE merged = 0;

-- How much each scope's index holds.
ALTER TABLE scope ADD COLUMN documents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN paired INTEGER NOT NULL DEFAULT 0;  -- documents that have pairs
ALTER TABLE scope ADD COLUMN pairs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN unmerged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN entities INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
