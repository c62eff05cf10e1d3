-- Late interaction: what a model's tokens of a passage say, one bit for each number of each token.

-- Apart from vectors, which a cache reads whole: these are read for few passages at a time. A rowid table, since
-- a row may be larger than a page.
CREATE TABLE passage_tokens (
  passage_id INTEGER NOT NULL REFERENCES passage(id) ON DELETE CASCADE,
  model_id   INTEGER NOT NULL REFERENCES model(id) ON DELETE CASCADE,
  signs      BLOB NOT NULL,  -- dims / 8 bytes for each token, rounded up
  PRIMARY KEY (passage_id, model_id)
) STRICT;
