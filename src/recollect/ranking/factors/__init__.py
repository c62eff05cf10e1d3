"""Factors: one number for each candidate, the formulas grouped by notion."""
