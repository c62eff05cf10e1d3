"""What an answer must look like, as far as a question tells: `how many …` wants a number, `when …` a date.

English, Spanish and German; of other questions nothing is known, and any text may answer them.
"""

from __future__ import annotations

import re
from enum import StrEnum

from recollect.text.lazy_pattern import compile_later
from recollect.text.tokens import fold


class AnswerShape(StrEnum):
    CODE = "code"
    """Two digits at the least: a telephone number, a code, a number plate."""
    NUMBER = "number"
    DATE = "date"
    ADDRESS = "address"
    """Of electronic mail."""


def _words(*patterns: str) -> str:
    return rf"\b(?:{'|'.join(' '.join(patterns).split())})\b".replace("~", r"\s+")


def _asked(*patterns: str) -> re.Pattern[str]:
    return compile_later(_words(*patterns))


# Patterns of folded text; `~` stands for the space between two words.
_ASKED = {
    AnswerShape.ADDRESS: _asked("e-?mail~address correo~electronico e-?mail-?adresse"),
    AnswerShape.CODE: _asked(
        r"phone telephone telefono movil telefon handynummer number numero \w*nummer code codigo \w*code pin",
        r"iban matricula kennzeichen postcode",
    ),
    AnswerShape.NUMBER: _asked(
        r"how~(?:many|much|long|old|tall|big|far|often|high|deep|wide|fast|heavy)",
        r"what~(?:time|size|price|age|percentage) cost costs price",
        r"cuant[oa]s? a~que~hora que~(?:hora|talla|precio|edad) cuesta",
        r"wie~?(?:viele?|lange?|oft|alt|gross|hoch|teuer|weit|schwer|spat) kostet preis",
    ),
    AnswerShape.DATE: _asked(
        r"when (?:what|which)~(?:day|date|year|month) birthday",
        r"cuando que~(?:dia|fecha|mes|ano) cumple cumpleanos",
        r"wann welche[rmns]?~(?:tag|datum|monat|jahr) geburtstag",
    ),
}
_NUMERALS = r"""
one two three four five six seven eight nine ten eleven twelve dozen hundred thousand half twice
dos tres cuatro cinco seis siete ocho nueve diez doce docena cien mil medio media
zwei drei vier funf sechs sieben acht neun zehn elf zwolf dutzend hundert tausend halb\w*
"""
_DATES = r"""
jan\w* feb\w* mar(?:ch|s|zo)? apr\w* may jun\w* jul\w* aug\w* sep\w* oct\w* nov\w* dec\w*
enero abril mayo agosto dic\w* marz mai okt\w* dez\w*
(?:mon|tues|wednes|thurs|fri|satur|sun)days? lunes martes miercoles jueves viernes sabados? domingos?
(?:mon|diens|donners|frei|sams|sonn)tags? mittwochs?
yesterday today tonight tomorrow last next ago weeks? weekend months? years? summer winter spring autumn fall
ayer hoy manana semanas? pasad[oa] proxim[oa] verano invierno primavera otono
gestern heute morgen wochen? letzte\w* nachste\w* sommer fruhling herbst
"""
_FOUND = {
    AnswerShape.ADDRESS: compile_later("@"),
    AnswerShape.CODE: compile_later(r"\d[\d\s./-]*\d"),
    AnswerShape.NUMBER: compile_later(rf"\d|{_words(_NUMERALS)}"),
    AnswerShape.DATE: compile_later(rf"\d|{_words(_DATES)}"),
}


def answer_shape(question: str) -> AnswerShape | None:
    """The narrowest shape that the question asks for; None: it may be answered by anything."""
    folded = fold(question)
    return next((shape for shape, asked in _ASKED.items() if asked.search(folded)), None)


def has_shape(text: str, shape: AnswerShape) -> bool:
    """Whether something in the text could be such an answer."""
    return _FOUND[shape].search(fold(text)) is not None
