"""Signs in the wording of a prompt that it is about the user's own life, or that it needs no memory at all.

English, Spanish and German, and weak evidence each: a prompt in another language shows none of them, and is
judged by what the store holds.
"""

from __future__ import annotations

import re

from recollect.lazy_dataclass import dataclass
from recollect.text.tokens import fold, words
from recollect.text.word_lists import word_list

_MINE = word_list("""
i me my mine we our ours ive
yo mi mis mio mia nos nuestro nuestra nuestros nuestras conmigo
ich mir mich mein meine meinen meinem meiner wir uns unser unsere unseren unserem unserer
""")
_WRITTEN = re.compile(r"[^\W\d_][\w'’-]+")
_BEGINS = frozenset('.!?:"“„«»(¿¡\n')
_POSSESSIVE = re.compile(r"['’]s?$")
_QUOTED = re.compile(r"[\"“„«»”][^\"“„«»”]{8,}[\"“”»«]")
_CODE = re.compile(
    r"[{}\[\]=<>`|\\]|->|\(\)|\b(?:python|javascript|typescript|rust|java|regexp?|sql|css|html|json|yaml|git|npm|"
    r"docker|latex|excel|bash|linux|pandas|http|api|dataframes?)\b"
)
# What one does with and for the people and days of one's own life: write, remind, plan, invite, shop.
_ERRAND = re.compile(
    r"\b(?:remind\w*|plan|plans|schedule|organi[sz]e|draft|reply|invit\w+|e?-?mail|message|letter|ring|call|"
    r"book|pack|gifts?|presents?|menu|recipe|dinner|supper|lunch|shopping|trip|flights?|weekend|appointment|"
    r"recuerda\w*|planea\w*|organiza\w*|escrib\w+|redacta\w*|contesta\w*|mensaje|correo|regalos?|cena|"
    r"receta|compra|viaje|finde|cita|invita\w*|"
    r"erinner\w*|schreib\w*|nachricht|antworte?|einlad\w*|geschenke?|abendessen|koche\w*|einkauf\w*|reise|"
    r"fahrt|wochenende|termin|entwurf)\b"
)
# Small talk, where the prompt says little else.
_GREETING = re.compile(
    r"\b(?:hello|hi|good (?:morning|night|evening)|thanks|thank you|hola|buen[oa]s|gracias|hallo|guten|danke|"
    r"bonjour|merci|bom dia|ciao)\b"
)
_SMALL_TALK_WORDS = 6
# What can be answered from the words of the prompt, or from what everybody may know.
_GENERAL = re.compile(
    r"\b(?:translat\w+|synonyms?|spell\w*|convert|capital of|formula|poem|haiku|limerick|verse|joke|"
    r"summari[sz]e|shorten|rewrite|proofread|grammar|plural|tense|percent of|times \d+|difference between|"
    r"explain|define|meaning of|what does (?:\S+ ){1,4}(?:mean|do)|stands? for|how do (?:i|you)|"
    r"alphabetical\w*|"
    r"traduc\w+|sinonimos?|corrige|capital de|poema|chiste|resume|diferencia entre|explica\w*|"
    r"que significa|como se dice|por ciento|verbo|"
    r"ubersetz\w+|witz|gedicht|hauptstadt|unterschied|erklar\w*|was bedeutet|fass zusammen|mehrzahl|"
    r"prozent)\b"
)


@dataclass(frozen=True, slots=True)
class PromptSigns:
    names: tuple[str, ...]
    """Words that are written as names, folded."""
    is_personal: bool
    """It speaks of the user: I, my, our."""
    quotes: bool
    """It brings along the text that it is about."""
    has_code: bool
    is_errand: bool
    is_general: bool


def prompt_signs(prompt: str) -> PromptSigns:
    folded, said = fold(prompt), words(prompt)
    small_talk = len(said) <= _SMALL_TALK_WORDS and _GREETING.search(folded) is not None
    return PromptSigns(
        names=written_names(prompt),
        is_personal=not _MINE.isdisjoint(said),
        quotes=_QUOTED.search(prompt) is not None,
        has_code=_CODE.search(folded) is not None,
        is_errand=_ERRAND.search(folded) is not None,
        is_general=small_talk or _GENERAL.search(folded) is not None,
    )


def written_names(text: str) -> tuple[str, ...]:
    """Words with a capital that begin no sentence or quotation, folded, without `'s`; no GP, TV or MRI."""
    names = []
    for found in _WRITTEN.finditer(text):
        before = text[: found.start()].rstrip(" ")
        capital = found[0][0].isupper() and not found[0].isupper()
        if capital and before and before[-1] not in _BEGINS:
            names += words(_POSSESSIVE.sub("", found[0]))
    return tuple(dict.fromkeys(name for name in names if name not in _MINE))
