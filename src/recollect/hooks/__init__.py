"""Memory that works unasked: what a client's hooks run before a prompt and after a turn."""
