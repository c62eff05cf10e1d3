"""Use cases: each reads, decides, and writes."""
