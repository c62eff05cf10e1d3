"""Rank candidates: combine the results of all searches into one list."""
