-- What is compared is stored: the word by which a name is known in texts, and how long a text is.

ALTER TABLE memory ADD COLUMN first_word TEXT;  -- of an entity's folded name; the program fills it in
CREATE INDEX entity_by_first_word ON memory(scope_id, first_word) WHERE first_word IS NOT NULL;

ALTER TABLE memory ADD COLUMN text_length INTEGER GENERATED ALWAYS AS (length(text)) VIRTUAL;
