"""The care of a store: splits, duplicates, calibration, moving memories."""
