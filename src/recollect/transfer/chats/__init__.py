"""Talks out of other programs' files: ChatGPT and Claude exports, Markdown, and JSONL of turns."""

from recollect.transfer.chats.conversation import Conversation
from recollect.transfer.chats.formats import FORMATS, conversations, format_of

__all__ = ["FORMATS", "Conversation", "conversations", "format_of"]
