"""The care of a store: splits, duplicates, moving memories."""
