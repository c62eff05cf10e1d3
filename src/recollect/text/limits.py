"""What text may be stored: the one place that says no, and why."""

from __future__ import annotations

import unicodedata

from recollect.errors import InvalidInput

NAME_LIMIT = 1_000
TYPE_LIMIT = 200
TEXT_LIMIT = 1_000_000
QUERY_LIMIT = 20_000
METADATA_LIMIT = 4_000_000
"""Characters of JSON that are kept with a note or message."""
CONTEXT_TURNS = 3
"""So many turns before a message may tell whom it means."""


def clean_name(name: object, what: str = "name") -> str:
    """A name as it is kept: composed (NFC), without outer white space. Case and accents stay."""
    return _checked(name, what, NAME_LIMIT, strip=True)


def name_as_kept(name: str) -> str:
    """The form in which `clean_name` keeps a name, without its checks: for looking a name up."""
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


def check_query(text: object) -> None:
    """A query may be empty, and any text is one, but it is searched for while somebody waits."""
    if not isinstance(text, str):
        raise InvalidInput(f"The query is text, not {type(text).__name__}.")
    if len(text) > QUERY_LIMIT:
        raise InvalidInput(
            f"The query has {len(text):,} characters, and at most {QUERY_LIMIT:,} are searched for; "
            "ask for what matters in it."
        )


def clean_share(number: object, what: str) -> float:
    """A number from 0 to 1."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
        raise InvalidInput(f"The {what} must be a number from 0 to 1, not {number!r}.")
    return float(number)


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
