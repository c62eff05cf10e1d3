"""mem0's routes."""
