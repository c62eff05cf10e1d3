"""The tense of a question: whether it asks for what holds now, or for what held before."""

from __future__ import annotations

from enum import StrEnum

from recollect.text.lazy_pattern import compile_later
from recollect.text.tokens import fold


class QuestionTense(StrEnum):
    NOW = "now"
    """It says that it asks for what holds now: `current`, `still`, `ahora`."""
    PAST = "past"
    """It asks for what held before: `used to`, `previous`, `antes`."""
    OPEN = "open"
    """It does not say; what holds now is meant."""


# Of a longer text, the end asks.
_LETTERS = 500
# Folded, so without accents. `before` and its like only where nothing follows that something is before of.
_PAST = compile_later(
    r"\b(?:used\s+to|previous(?:ly)?|former(?:ly)?|originally|back\s+then|in\s+the\s+past|at\s+first"
    r"|earlier|once\s+upon|no\s+longer|my\s+old|(?:his|her|their|our|the)\s+old|before\s+(?:that|then|now)"
    r"|solia[ns]?|soliamos|anterior(?:es|mente)?|previamente|originalmente|en\s+el\s+pasado|al\s+principio"
    r"|antigu[oa]s?|antes\s+de\s+(?:eso|ahora)|ya\s+no"
    r"|fruher\w*|vorher\w*|damals|ehemalig\w*|zuvor|autrefois|ancienne?|precedent\w*|auparavant|anteriormente)\b"
    r"|\b(?:before|antes|avant|prima)\W*$"
)
_NOW = compile_later(
    r"\b(?:now|nowadays|current(?:ly)?|still|at\s+the\s+moment|at\s+present|presently|these\s+days|latest"
    r"|newest|most\s+recent|up\s+to\s+date|any\s*more"
    r"|ahora|actual(?:es|mente)?|todavia|aun|hoy\s+en\s+dia|a\s+dia\s+de\s+hoy|en\s+este\s+momento"
    r"|jetzt|aktuell\w*|derzeit|zurzeit|momentan|immer\s+noch|gerade|maintenant|actuel\w*|encore"
    r"|adesso|attual\w*|ancora|agora|atual\w*|ainda)\b"
)


def question_tense(question: str) -> QuestionTense:
    """By the words of English and Spanish, and the plainest of German, French, Italian and Portuguese."""
    folded = fold(question[-_LETTERS:])
    if _PAST.search(folded):
        return QuestionTense.PAST
    return QuestionTense.NOW if _NOW.search(folded) else QuestionTense.OPEN
