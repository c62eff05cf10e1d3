"""Read the language of texts and questions by rules and word lists."""
