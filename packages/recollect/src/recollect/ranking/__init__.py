"""Ranking: from what the searches found to one list."""
