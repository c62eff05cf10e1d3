"""Ranking steps: frozen values that take candidates and give them back with other scores, order or number."""
