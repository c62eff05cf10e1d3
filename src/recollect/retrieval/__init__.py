"""Retrieval: asking the store for candidates."""
