-- Stored for comparisons: the first word of a name, and the length of a text.

ALTER TABLE memory ADD COLUMN first_word TEXT;  -- of an entity's folded name; the program computes it
CREATE INDEX entity_by_first_word ON memory(scope_id, first_word) WHERE first_word IS NOT NULL;

ALTER TABLE memory ADD COLUMN text_length INTEGER GENERATED ALWAYS AS (length(text)) VIRTUAL;
