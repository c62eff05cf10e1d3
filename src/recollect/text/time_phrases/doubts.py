"""Doubts: checks by which words that may name a time turn out, by their context, to name none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recollect.text.time_phrases.lexer import Token
from recollect.text.word_lists import ENGLISH_MONTHS, SPANISH_MONTHS


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words before a month that leave no doubt, and those that a person's name can follow as well.
_SURELY_TIME = _list("""
in during throughout last next early mid late month en durante mes mediados principios finales
""")
_MAYBE_TIME = _list("""
since until till til before after by of from between through this around to and - for on desde hasta antes de
del entre a al y despues tras para este pasado proximo the
""")
_CLOSED_TIME = _list("since until till til before after by from between through desde hasta entre tras of de")
# Months that are also names, verbs or food.
_NAMES = _list("april may june august julio abril")
_SPANISH_NAMES = _list("julio abril")
_VERBS = _list("may march")
# Words before a month that could be a name, where nothing else says that it is a month.
_BARE_BEFORE = _list("the our my your their his her about all el este pasado proximo mid")
_EVERY = _list("every each cada")
_FOOD_BEFORE = _list("la con extra mas sin with no some more hold")
_FOOD_AFTER = _list("ketchup mostaza mustard")
_PERSON_BEFORE = _list("""
with to and for told tell asked ask met saw called call named aunt uncle dear hi hello hey thanks cousin
sister brother friend daughter son wife husband mum mom mother grandma miss mrs mr ms dr like love loves con y
a dijo llamo conoci vi tia tio don dona senor senora hermana hermano hola gracias querida querido amiga amigo
hija hijo is am did do does has have will would can could should said says
""")
_PERSON_AFTER = _list("""
's said says say told tells asked asks wants wanted likes liked loves loved thinks thought knows knew called
calls wrote writes went goes gave gives has had is was will would can could does did came comes left leaves
lives lived works worked made makes saw sees and who got gets took takes sent bought bakes baked needs needed
hates hated prefers preferred agreed moved married turned started plays played dijo dice quiere queria vive
trabaja tiene fue es esta era llamo llama me te le se nos
""")
_VERB_AFTER = _list("""
i we you he she it they the god not be have be also well only still never your our his her their my on to in
into up forward through out off back against over down away along toward towards past
""")
_HABIT_BEFORE = _list("""
every each any some most many a an one other alternate los las cada todos todas un una unos algun ningun otro
either
""")
_TITLE_BEFORE = _list("""
black good cyber ash super fat bloody taco casual freaky manic ruby giving palm easter man throwback holy
shrove maundy santo santa placido blue
""")
_WEEKDAY_COMPOUND = _list("""
roast roasts school schools times blues lights live best driver drivers funday papers addams club lunch league
football afternoons mornings evenings nights
""")
_SEASON_COMPOUND = _list("""
roll rolls water onion onions clothes coat coats jacket jackets dress dresses camp camps school tires tyres
boots sports olympics asleep apart semester cleaning mattress of de
""")
_SEASON_BEFORE = _list("""
in over during since until till before after by between from through throughout early mid late beginning start
middle end en durante desde hasta antes despues entre principios mediados finales todo
""")
_SHORT_BEFORE = _list("""
on in since during until till by before after from between to and - early mid late last next
""")
_FEAST_COMPOUND = _list("""
tree trees carol carols card cards cookie cookies egg eggs bunny island lights jumper sweater ornament
ornaments song songs music stocking stockings market markets wrapping pudding costume costumes
""")
_YEAR_BEFORE = _list("in during year of since en durante ano de del for from around circa throughout")
COUNTED = _list("""
people persons dollars dollar euros euro pounds pesos bucks usd eur gbp km kilometers kilometres miles meters
metres m steps words calories items pieces copies times users customers hours minutes seconds days weeks
months years lines rows tokens files pages points votes rpm watts kcal kg grams personas dolares libras millas
metros pasos palabras calorias veces horas minutos dias semanas meses anos lineas paginas puntos votos
usuarios clientes %
""")
_MORNING_BEFORE = _list("la esta una toda media buena cada de las tu mi su this in every")
_TIMES_BEFORE = _list("times once twice thrice days hours veces vez time day")
_JOINING = _list("and to - or y a")
# What may follow a number that is a day of the month, and not a count of things.
_PLAIN_AFTER = _list("i we you he she it they , . ? ! ; : ) and or yo y o")
_MARKS = frozenset({"?", "!", ".", "", "¿", "¡"})
_SHORT_WHILES = _list("minute minuto second hour hora day dia")
_YEAR_SAID = _list("last this next ano")
# After the end of a text, and before its start.
_END = Token("", "", None, 0, 0)


class Match(NamedTuple):
    """A match among the tokens around it."""

    tokens: Sequence[Token]
    first: int
    past: int
    cased: bool
    """Whether capital letters tell names from other words."""

    @property
    def matched(self) -> Sequence[Token]:
        return self.tokens[self.first : self.past]

    def token(self, steps: int) -> Token:
        """So many steps after it, or before it if negative; without kind and word where there is none."""
        index = self.past + steps - 1 if steps > 0 else self.first + steps
        return self.tokens[index] if 0 <= index < len(self.tokens) else _END

    def word(self, steps: int) -> str:
        return self.token(steps).word


def after_from(match: Match) -> bool:
    """`from Monday to Friday` is this week's, `Monday to Friday` a habit."""
    return match.word(-1) == "from"


def no_month(match: Match) -> bool:
    """Whether a month without day and year may be something else."""
    token = match.tokens[match.first]
    before = match.word(-2 if match.word(-2) in {"mid", "early", "late"} else -1)
    is_food = match.word(-1) in _FOOD_BEFORE or match.word(1) in _FOOD_AFTER
    if before in _EVERY or (token.word == "mayo" and is_food):
        return True
    if token.word not in _NAMES | _VERBS or before in _SURELY_TIME or _is_alone(match):
        return False
    if _beside_month(match) and (token.word not in _VERBS or match.word(1) not in _VERB_AFTER - {"to"}):
        return False
    if (token.word in _VERBS and _is_verb(match, token)) or (
        token.word in _NAMES and _is_person(match, token)
    ):
        return True
    if before in _CLOSED_TIME:
        return False
    is_month = token.capital if match.cased else token.word in _NAMES - _VERBS - {"august"}
    return before not in _BARE_BEFORE or not is_month


def no_sided_month(match: Match) -> bool:
    """`this may be` is no month."""
    first, last = match.matched[0], match.matched[-1]
    alone = Match(match.tokens, match.past - 1, match.past, match.cased)
    is_this = first.word == "this" and last.word in _VERBS
    return is_this and match.token(1) is not _END and _is_verb(alone, last)


def no_date(match: Match) -> bool:
    """A month beside a number may still be a verb beside a count: `may 5 people come`."""
    tokens = match.matched
    if any(token.word == "ago" for token in tokens):  # August in Spanish, where a day and a year enclose it.
        return len(tokens) < 3 or tokens[0].word == "ago"
    named = next((token for token in tokens if token.word in _VERBS | {"mar", "sat", "sun"}), None)
    if named is None or any(
        token.kind in {"YEAR", "ORDINAL"} or token.word in {"of", "de"} for token in tokens
    ):
        return False
    if (match.cased and named.capital) or match.word(-1) in _SURELY_TIME | _MAYBE_TIME:
        return False
    return counts_things(match)


def no_weekday(match: Match) -> bool:
    """Whether a bare weekday is a habit, or part of a name."""
    token, before, after = match.tokens[match.first], match.word(-1), match.word(1)
    if before in _HABIT_BEFORE | _TITLE_BEFORE or after in _WEEKDAY_COMPOUND:
        return True
    if before == "on" and match.word(-2) in {"only", "always"}:
        return True
    if after == "night" and match.token(1).capital and match.cased:
        return True
    is_surname = token.word == "domingo" and match.cased and token.capital
    return is_surname and match.token(-1).capital and match.first > 1


def no_short_weekday(match: Match) -> bool:
    """Mon, Sat and Sun are other words too: on Mon, since Sat."""
    token = match.tokens[match.first]
    if match.word(-1) not in _SHORT_BEFORE:
        return True
    return not token.capital if match.cased else token.word in {"sun", "sat", "wed", "mon"}


def no_sided_weekday(match: Match) -> bool:
    """Last Sat, but neither `this sun` nor `last wed`."""
    token = match.tokens[match.past - 1]
    return not token.capital if match.cased else token.word in {"sun", "wed", "mon"}


def no_short_month(match: Match) -> bool:
    """In Dec, since Oct; `mar` is the sea and Jan a person."""
    token = match.tokens[match.first]
    if match.word(-1) not in _SHORT_BEFORE | _SURELY_TIME:
        return True
    return token.word in {"mar", "ago", "ene", "abr", "dic"} or (match.cased and not token.capital)


def no_season(match: Match) -> bool:
    return match.word(1) in _SEASON_COMPOUND or match.word(-1) in _EVERY


def no_bare_season(match: Match) -> bool:
    """A season is a time after a word that says so: in the summer, since winter."""
    if match.word(1) in {"of", "de", "del"}:
        following = match.token(2)
        return following.kind not in {"YEAR", "YEAR_SPAN"} and following.word not in _YEAR_SAID
    steps = 1
    while match.word(-steps) in {"the", "el", "la", "-", "of", "del", "de"} and steps < 3:
        steps += 1
    if match.word(-steps) not in _SEASON_BEFORE:
        return True
    if match.word(-1) == "de" and match.word(-2) not in _SEASON_BEFORE:
        return True
    return no_season(match)


def any_weekend(match: Match) -> bool:
    """The weekend, el fin de semana; `a weekend` and `weekend plans` are any."""
    return match.word(-1) not in {"the", "el", "del", "al"} or match.word(1) in {"de", "of"}


def no_kings(match: Match) -> bool:
    return match.word(-1) not in {"en", "por", "desde", "hasta", "tras"}


def no_feast(match: Match) -> bool:
    return match.word(1) in _FEAST_COMPOUND or match.word(-1) in _EVERY


def no_year(match: Match) -> bool:
    """Four digits are a year after a word that says so, or alone."""
    last, following = match.matched[-1], match.token(1)
    if _is_alone(match) or not is_plausible(last.value):
        return not is_plausible(last.value)
    if following.word == "-" and following.start == last.stop:
        return True  # 2024-W10
    return match.word(-1) not in _YEAR_BEFORE or match.word(1) in COUNTED


def no_quarter(match: Match) -> bool:
    """Q3 may stand alone; T3, the Spanish one, needs its year."""
    return "q" not in match.tokens[match.first].word


def no_year_range(match: Match) -> bool:
    """A pair of years, such as 2020-2022, next to other digits is a number of some other kind."""
    first, last = match.matched[0].value, match.matched[-1].value
    if not (is_plausible(first) and is_plausible(last) and first < last):
        return True
    return match.word(-1) in {"-", "+"} or match.word(1) == "-" or match.word(1) in COUNTED


def is_morning(match: Match) -> bool:
    """`mañana` after an article is the morning."""
    return match.word(-1) in _MORNING_BEFORE and match.word(-2) != "hasta"


def of_something(match: Match) -> bool:
    """`last week of June` is not last week."""
    return match.word(1) == "of" and match.word(2) not in {"work", "school", "classes"}


def short_while(match: Match) -> bool:
    """`last minute`, `in a minute` and `five times in a week` tell no time."""
    words = [token.word for token in match.matched]
    is_short = words[1] in {"a", "un", "one"} and words[-1] in _SHORT_WHILES
    return is_short or match.word(-1) in _TIMES_BEFORE


def no_bound(match: Match) -> bool:
    """After 2019, but not after 2000 steps."""
    values = [token.value for token in match.matched if token.kind == "YEAR"]
    return not all(map(is_plausible, values)) or (bool(values) and match.word(1) in COUNTED)


def counts_things(match: Match) -> bool:
    """`on the 5th` is a day, `on the 5th floor` is not."""
    return match.token(1) is not _END and match.word(1) not in _PLAIN_AFTER


def _is_alone(match: Match) -> bool:
    """The whole text, but for its marks."""
    others = (*match.tokens[: match.first], *match.tokens[match.past :])
    return len(match.tokens) <= 4 and all(token.word in _MARKS for token in others)


def is_plausible(year_number: int) -> bool:
    return 1500 <= year_number <= 2199


def _beside_month(match: Match) -> bool:
    return (match.word(-1) in _JOINING and _is_month(match.token(-2))) or (
        match.word(1) in _JOINING and _is_month(match.token(2))
    )


def _is_month(token: Token) -> bool:
    return token.kind == "YEAR" or token.word in {*ENGLISH_MONTHS, *SPANISH_MONTHS}


def _is_verb(match: Match, token: Token) -> bool:
    """May I, it may rain, march on, the march."""
    before = match.word(-1)
    if match.word(1) in _VERB_AFTER and before not in _CLOSED_TIME:
        return True
    if match.cased and token.capital and match.first > 0 and before not in {".", "?", "!"}:
        return False
    return before not in _CLOSED_TIME | _SURELY_TIME and not _is_alone(match)


def _is_person(match: Match, token: Token) -> bool:
    before, following = match.word(-1), match.token(1)
    if _beside_month(match):
        return False
    if before in _PERSON_BEFORE or following.word in _PERSON_AFTER:
        return True
    named = match.cased and token.capital
    if token.word in _SPANISH_NAMES and named:
        return before not in {"desde", "hasta", "entre"}  # Spanish writes its months small.
    # Before a surname.
    return named and before not in _CLOSED_TIME and following.capital and following.kind == "word"
