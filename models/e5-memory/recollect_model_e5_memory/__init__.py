"""Data only: model.json says what the files beside it are."""
