"""Adapters: Recollect as the memory of other agent frameworks, a small module each behind its own extra."""
