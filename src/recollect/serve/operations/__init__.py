"""What a caller may ask of a memory: each operation once, for every protocol."""
