"""What a note on the command line says beside its words."""

from __future__ import annotations


def with_remedy(note: str) -> str:
    """Add the command that helps to a note about missing vectors."""
    from recollect.engine.recall import WAITING  # loads the engine
    from recollect.engine.why_not import MAY_WAIT

    return f"{note} Run: recollect reindex" if note.endswith((WAITING, MAY_WAIT)) else note
