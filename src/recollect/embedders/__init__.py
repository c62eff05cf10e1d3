"""Embedders: the models that turn text into vectors."""
