"""The text that searches read for an item that a framework keeps in the metadata."""

from __future__ import annotations

from recollect.text.limits import TEXT_LIMIT, is_blank


def shown_text(text: str) -> str:
    """The text with U+FFFD for each NUL and each half of a surrogate pair; empty if it shows nothing."""
    shown = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    shown = shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "" if is_blank(text.replace("\0", "")) else shown


def searched_text(text: str, otherwise: str) -> str:
    """As much of a text as a memory keeps in one piece; that of `otherwise` where it shows nothing."""
    return shown_text(text[:TEXT_LIMIT]) or shown_text(otherwise[:TEXT_LIMIT])


def text_as_written(kept: str, note_text: str) -> str:
    """What was kept because a note cannot hold it exactly; the note's text, if that was edited since."""
    searched = searched_text(kept, "")
    return note_text if searched and searched != note_text else kept
