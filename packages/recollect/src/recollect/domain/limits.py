"""Limits of the values that callers may pass, and their checks."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from typing import Literal

from recollect.domain.errors import InvalidInput

NAME_LIMIT = 1_000
TYPE_LIMIT = 200
TEXT_LIMIT = 1_000_000
QUERY_LIMIT = 20_000
METADATA_LIMIT = 4_000_000
"""Maximum length of the metadata of a note or message, as JSON."""
CONTEXT_TURNS = 3
"""Earlier turns that may resolve a message's pronouns."""


def clean_name(name: object, what: str = "name") -> str:
    """Check a name; return it composed (NFC), without outer white space. Case and accents are kept."""
    return _checked(name, what, NAME_LIMIT, strip=True)


def name_as_kept(name: str) -> str:
    """Return the form of a name that `clean_name` returns, without most checks, to look the name up."""
    if not isinstance(name, str):
        raise InvalidInput(f"The name of a session or an entity must be text, not {type(name).__name__}.")
    return unicodedata.normalize("NFC", name).strip()


def is_blank(text: str) -> bool:
    """Whether a text has only spaces, control characters and format characters (zero-width joiner)."""
    return all(unicodedata.category(letter) in {"Zs", "Zl", "Zp", "Cc", "Cf"} for letter in text)


def clean_type(name: object, what: str = "type") -> str:
    return _checked(name, what, TYPE_LIMIT, strip=True)


def clean_ref(ref: object) -> str:
    """Check the name that a program gives a note; return it unchanged."""
    return _checked(ref, "ref", NAME_LIMIT, strip=False)


def clean_text(text: object, what: str = "text") -> str:
    """Check a text; return it unchanged."""
    return _checked(text, what, TEXT_LIMIT, strip=False)


def clean_share(number: object, what: str) -> float:
    """Check that a number is from 0 to 1."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
        raise InvalidInput(f"The {what} must be a number from 0 to 1, not {number!r}.")
    return float(number)


def check_page(limit: object, what: str = "memories") -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_PER_PAGE:
        raise InvalidInput(
            f"A page holds 1 to {MOST_PER_PAGE:,} {what}, not {limit!r}; get the next page with `after`."
        )


def _checked(text: object, what: str, limit: int, *, strip: bool) -> str:
    if not isinstance(text, str):
        raise InvalidInput(f"The {what} must be text, not {type(text).__name__}.")
    begins = f"It begins {text[:40].encode('unicode_escape').decode('ascii')!r}."
    if len(text) > limit:
        raise InvalidInput(
            f"The {what} has {len(text):,} characters; at most {limit:,} are allowed; split it. {begins}"
        )
    if "\0" in text:
        raise InvalidInput(f"The {what} contains a NUL character; remove it. {begins}")
    if any("\ud800" <= letter <= "\udfff" for letter in text) if not text.isascii() else False:
        raise InvalidInput(
            f"The {what} contains half of a surrogate pair, which is not text; decode it correctly. {begins}"
        )
    if is_blank(text):
        raise InvalidInput(f"The {what} is empty; give it at least one visible character.")
    return name_as_kept(text) if strip else text


# Limits of one call, here because they are also read without loading the engine

DEFAULT_LIMIT = 10
"""Number of hits of a search without a limit."""
MOST_HITS = 1_000
MOST_PER_PAGE = 1_000
"""Entities on one page of the graph."""
MOST_TURNS = 1_000
"""Turns of a session that one call reads."""
MOST_ROWS = 100_000
"""Rows of a batch, and entries of a list. They are written at once, while other writers wait."""
STALE_DAYS = 90.0
"""Days after which an unseen and unchanged entity is stale."""
DEFAULT_BUDGET = 1_000
"""Tokens in a context."""
SELF_TEST_SAMPLE = 200
"""Memories that a self-test asks for."""
SELF_TEST_HITS = 5
"""A self-test counts a memory as found if it is among this many hits."""


# Probabilities in words, and the threshold of a doubtful answer

ConfidenceLabel = Literal["likely", "possible", "unlikely"]

UNLIKELY = 0.5
"""An answer below it is doubtful: `context` returns no memories, and commands and tools show no hits."""
LIKELY = 0.75


def confidence_label(confidence: float) -> ConfidenceLabel:
    if confidence < UNLIKELY:
        return "unlikely"
    return "possible" if confidence < LIKELY else "likely"


# For modules that do not load the profiles

DEFAULT_PROFILE = "recollect"


# Messages were said `at` a time. Notes and observations are about something that `happened_at` a time.
_TIMES = {"at": "happened_at", "happened_at": "at"}


def right_names(unknown: Collection[str], known: Collection[str]) -> str:
    """Return a hint if a time argument has another name here, else an empty text."""
    meant = ((name, _TIMES[name]) for name in sorted(_TIMES.keys() & unknown))
    return "".join(f"{name!r} is called {right!r} here; " for name, right in meant if right in known)
