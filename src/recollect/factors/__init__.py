"""Factors: one number for each candidate, each formula in a file of its own."""
