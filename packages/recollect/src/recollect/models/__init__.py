"""Find and load models: the registry of installed ones, local models and hosted ones."""
