-- Late interaction: the signs of a passage's token vectors, one bit per number.

-- In its own table: a cache reads all vectors, but these are read for a few passages at a time. A rowid table,
-- since a row may be larger than a page.
CREATE TABLE passage_tokens (
  passage_id INTEGER NOT NULL REFERENCES passage(id) ON DELETE CASCADE,
  model_id   INTEGER NOT NULL REFERENCES model(id) ON DELETE CASCADE,
  signs      BLOB NOT NULL,  -- dims / 8 bytes for each token, rounded up
  PRIMARY KEY (passage_id, model_id)
) STRICT;
