"""Vectors for searching: kept in memory or in a mapped file, in step with whatever store holds the truth."""
