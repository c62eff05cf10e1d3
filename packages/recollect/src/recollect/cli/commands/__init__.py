"""The commands, in files by what users do."""
