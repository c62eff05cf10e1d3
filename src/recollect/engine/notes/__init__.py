"""Notes and conversations."""
