"""Which of the two languages a text is in, by its small words."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.text.when.reading import Item


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SPANISH = _words(
    "el la los las de del que en y a un una por para con se lo como mas pero su sus al es fue esta este "
    "me mi cuando donde quien cual hasta desde entre sobre antes despues hoy ayer dia factura reunion "
    "cita nos le"
)
_ENGLISH = _words(
    "the of and to in is was on for with at by from that this it i we you my our did do does what when "
    "where who how which before after since until between had have has are were be not or"
)
# Enough to tell, however long the text is.
_ENOUGH = 200


def is_spanish(items: Sequence[Item]) -> bool:
    words = [item.word for item in items[:_ENOUGH]]
    return sum(word in _SPANISH for word in words) > sum(word in _ENGLISH for word in words)
