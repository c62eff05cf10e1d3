"""Tuning a profile on the store's own answers."""
