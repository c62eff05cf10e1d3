"""What a question wants to know about time: whatever happened then, what was said then, or when it was."""

from __future__ import annotations

import re

from recollect.text.lazy_pattern import compile_later
from recollect.text.tokens import fold, words

# Words of a question that asks for whatever there is.
_HAPPENING = """
happen happened happens happening going know known remember recall tell show list note noted notes memory
memories everything anything something things thing stuff news new latest done did do make made paso pasa
pasado ocurrio sucedio hice hizo hiciste hicimos cuenta cuentame dime muestra recuerda recuerdas nota notas
cosas cosa todo novedades
"""
_SAYING = """
say said says saying tell told talk talked talking speak spoke discuss discussed mention mentioned write wrote
ask asked apunte apunto dije dijo dijiste dijimos dicho hablamos hable hablo conte conto comente comento
mencione menciono escribi escribio pregunte pregunto
"""
_SAYING_WORDS = frozenset(_SAYING.split())
OPEN_WORDS = frozenset(f"{_HAPPENING} {_SAYING}".split())
"""They say that something is asked for, and not what: `what happened`, `what did she say`."""
_OPENLY = compile_later(
    r"""
    \b(?:what|anything|everything|something)\b .* \b(?:happen(?:ed|s|ing)?|going\s+on|went\s+on)\b
    | \bwhat(?:'s|\s+is|\s+was|s)?\s+(?:new|the\s+latest)\b
    | \bwhat\s+(?:have|has|had|did|do|does)\b (?:\s+\S+){1,3}? \s+
      (?:do|done|been\s+doing|been\s+up\s+to|get\s+up\s+to)\b
    | \bwhat\s+(?:was|were)\s+(?:\S+\s+){1,3}?(?:doing|up\s+to)\b
    | \bque\s+(?:me\s+|nos\s+|te\s+|le\s+|se\s+)?(?:ha\s+|habia\s+)?
      (?:paso|pasado|pasaba|ocurrio|ocurrido|sucedio|sucedido|hice|hiciste|hizo|hicimos|hicieron|hecho)\b
    | \bque\s+(?:hubo|novedades|hay\s+de\s+nuevo)\b
    """,
    re.VERBOSE | re.DOTALL,
)
_WHEN = compile_later(
    r"""
    \bwhen\s+(?:did|was|were|is|are|does|do|will|has|have|had)\b | ^\W*when\b | \bsince\s+when\b
    | \b(?:what|which)\s+(?:date|day|month|year|week|time|season)\b | \bhow\s+long\s+ago\b
    | ^\W*(?:y\s+)?(?:desde\s+|hasta\s+|para\s+)?cuando\b | \bhace\s+cuanto\b
    | \b(?:que|cual|cuales)\s+(?:fecha|dia|mes|ano|semana)\b | \ben\s+que\s+(?:fecha|dia|mes|ano|semana)\b
    """,
    re.VERBOSE,
)


def asks_openly(text: str) -> bool:
    """Whether it asks for whatever happened: `what happened at work`, `what did I do`, `qué pasó`."""
    return _OPENLY.search(fold(text)) is not None


def asks_what_was_said(text: str) -> bool:
    """Whether it asks for words, whatever time they speak of: `what did I tell you last week`."""
    return not _SAYING_WORDS.isdisjoint(words(text))


def asks_when(text: str) -> bool:
    """Whether the answer is a time: `when did`, `which year`, `how long ago`, `cuándo`."""
    return _WHEN.search(fold(text)) is not None
