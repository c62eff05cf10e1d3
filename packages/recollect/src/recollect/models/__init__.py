"""Models that run on this machine: the registry of installed ones, and what loads their files."""
