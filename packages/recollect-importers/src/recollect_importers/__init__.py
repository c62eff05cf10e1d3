"""Readers of other programs' memories and chats; each is an entry point of `recollect.importers`."""
