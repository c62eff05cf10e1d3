"""The quality benchmark: judged questions, every profile over one store, and how sure differences are."""
