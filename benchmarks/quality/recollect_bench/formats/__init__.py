"""Loaders of public data sets, one module for each layout."""
