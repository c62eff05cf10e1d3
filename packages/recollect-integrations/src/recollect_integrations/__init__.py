"""Adapters that make Recollect the memory of agent frameworks: one small module and one extra for each."""
