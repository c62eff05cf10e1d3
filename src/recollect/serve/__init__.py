"""Serving a memory to other programs: the tools on offer, and the protocols that carry them."""
