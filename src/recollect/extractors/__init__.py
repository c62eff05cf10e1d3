"""Extractors: what draws notes out of messages."""
