"""Stores: the places where memories are kept."""
