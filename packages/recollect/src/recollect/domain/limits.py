"""Limits of texts that may be stored, with the reasons."""

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
"""Characters of JSON that are kept with a note or message."""
CONTEXT_TURNS = 3
"""Earlier turns that may resolve a message's pronouns."""


def clean_name(name: object, what: str = "name") -> str:
    """A name as it is kept: composed (NFC), without outer white space. Case and accents stay."""
    return _checked(name, what, NAME_LIMIT, strip=True)


def name_as_kept(name: str) -> str:
    """The form in which `clean_name` keeps a name, without its checks: for looking a name up."""
    if not isinstance(name, str):
        raise InvalidInput(f"The name of a session or an entity must be text, not {type(name).__name__}.")
    return unicodedata.normalize("NFC", name).strip()


def is_blank(text: str) -> bool:
    """Whether it has only spaces, control characters and format characters, such as a zero-width joiner."""
    return all(unicodedata.category(letter) in {"Zs", "Zl", "Zp", "Cc", "Cf"} for letter in text)


def clean_type(name: object, what: str = "type") -> str:
    return _checked(name, what, TYPE_LIMIT, strip=True)


def clean_ref(ref: object) -> str:
    """A program's name of a note, letter for letter as given."""
    return _checked(ref, "ref", NAME_LIMIT, strip=False)


def clean_text(text: object, what: str = "text") -> str:
    """A text as it is kept: exactly as given."""
    return _checked(text, what, TEXT_LIMIT, strip=False)


def clean_share(number: object, what: str) -> float:
    """A number from 0 to 1."""
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
            f"The {what} has {len(text):,} characters, and at most {limit:,} are kept in one piece; "
            f"split it. {begins}"
        )
    if "\0" in text:
        raise InvalidInput(f"The {what} holds a NUL character; remove it. {begins}")
    if any("\ud800" <= letter <= "\udfff" for letter in text) if not text.isascii() else False:
        raise InvalidInput(
            f"The {what} holds half of a surrogate pair, which is no text; decode it properly. {begins}"
        )
    if is_blank(text):
        raise InvalidInput(f"The {what} is empty; give it at least one visible character.")
    return name_as_kept(text) if strip else text


# How much one call may ask for: read also where nothing of the engine is loaded yet.

DEFAULT_LIMIT = 10
"""Hits of a search that names no limit."""
MOST_HITS = 1_000
MOST_PER_PAGE = 1_000
"""Entities of one page of the graph."""
MOST_TURNS = 1_000
"""Turns of a session that one call reads."""
MOST_ROWS = 100_000
"""Rows of one batch, and entries of a list: all of it is written at once, while other writers wait."""
STALE_DAYS = 90.0
"""Days after which an unseen and unchanged entity is stale."""
DEFAULT_BUDGET = 1_000
"""Tokens of a context."""
SELF_TEST_SAMPLE = 200
"""Memories that a self-test asks for."""
SELF_TEST_HITS = 5
"""Hits of an answer that count in it."""


# Probabilities as words, and the line below which an answer is no answer.

ConfidenceLabel = Literal["likely", "possible", "unlikely"]

UNLIKELY = 0.25
"""Below it, nothing here seems to answer: of those that had an answer, about a tenth at most fell below."""
LIKELY = 0.6


def confidence_label(confidence: float) -> ConfidenceLabel:
    if confidence < UNLIKELY:
        return "unlikely"
    return "possible" if confidence < LIKELY else "likely"


# The name of the default profile, for modules that load no profiles.

DEFAULT_PROFILE = "recollect"


# Messages were said `at` a time. Notes and observations are about something that `happened_at` a time.
_TIMES = {"at": "happened_at", "happened_at": "at"}


def right_names(unknown: Collection[str], known: Collection[str]) -> str:
    """Return how a time is called here, where the caller used its name elsewhere."""
    meant = ((name, _TIMES[name]) for name in sorted(_TIMES.keys() & unknown))
    return "".join(f"{name!r} is called {right!r} here; " for name, right in meant if right in known)
