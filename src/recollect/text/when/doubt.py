"""Doubt: words that may not name a time after all, weighed by what stands beside them."""

from __future__ import annotations

from recollect.text.when.grammar import Around
from recollect.text.when.reading import Item


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words before a month that leave no doubt, and those that a person's name can follow as well.
_SURELY_TIME = _words(
    "in during throughout last next early mid late month en durante mes mediados principios finales every "
    "each"
)
_MAYBE_TIME = _words(
    "since until till til before after by of from between through this around to and - for on desde hasta "
    "antes de del entre a al y despues tras para este pasado proximo the"
)
_CLOSED_TIME = _words(
    "since until till til before after by from between through desde hasta entre tras of de"
)
# Months that are also names, verbs or food.
_NAMES = _words("april may june august julio abril")
_SPANISH_NAMES = _words("julio abril")
_VERBS = _words("may march")
# Words before a month that could be a name, where nothing else says that it is a month.
_BARE_BEFORE = _words("the our my your their his her about all el este pasado proximo mid")
_EVERY = _words("every each cada")
_FOOD_BEFORE = _words("la con extra mas sin with and y no of some more hold")
_PERSON_BEFORE = _words(
    "with to and for told tell asked ask met saw called call named aunt uncle dear hi hello hey thanks cousin "
    "sister brother friend daughter son wife husband mum mom mother grandma miss mrs mr ms dr like love loves "
    "con y a dijo llamo conoci vi tia tio don dona senor senora hermana hermano hola gracias querida querido "
    "amiga amigo hija hijo is am did do does has have will would can could should said says"
)
_PERSON_AFTER = _words(
    "'s said says say told tells asked asks wants wanted likes liked loves loved thinks thought knows knew "
    "called calls wrote writes went goes gave gives has had is was will would can could does did came comes "
    "left leaves lives lived works worked made makes saw sees and who got gets took takes sent bought bakes "
    "baked needs needed hates hated prefers preferred agreed moved married turned started plays played "
    "dijo dice quiere queria vive trabaja tiene fue es esta era llamo llama me te le se nos"
)
_VERB_AFTER = _words(
    "i we you he she it they the god not be have be also well only still never your our his her their my "
    "on to in into up forward through out off back against over down away along toward towards past"
)
_HABIT_BEFORE = _words(
    "every each any some most many a an one other alternate los las cada todos todas un una unos algun ningun "
    "otro either"
)
_TITLE_BEFORE = _words(
    "black good cyber ash super fat bloody taco casual freaky manic ruby giving palm easter man throwback "
    "holy shrove maundy santo santa placido blue"
)
_COMPOUND = _words(
    "roast roasts school schools times blues lights live best driver drivers funday papers addams club lunch "
    "league football afternoons mornings evenings nights"
)
_SEASON_COMPOUND = _words(
    "roll rolls water onion onions clothes coat coats jacket jackets dress dresses camp camps school tires "
    "tyres boots sports olympics asleep apart semester cleaning mattress of de"
)
_SEASON_BEFORE = _words(
    "in over during since until till before after by between from through throughout early mid late "
    "beginning start middle end en durante desde hasta antes despues entre principios mediados finales todo"
)
_SHORT_BEFORE = _words(
    "on in since during until till by before after from between to and - early mid late last next"
)
_FEAST_COMPOUND = _words(
    "tree trees carol carols card cards cookie cookies egg eggs bunny island lights jumper sweater ornament "
    "ornaments song songs music stocking stockings market markets wrapping pudding costume costumes"
)
_YEAR_BEFORE = _words("in during year of since en durante ano de del for from around circa throughout")
_COUNTED = _words(
    "people persons dollars dollar euros euro pounds pesos bucks usd eur gbp km kilometers kilometres miles "
    "meters metres m steps words calories items pieces copies times users customers hours minutes seconds "
    "days weeks months years lines rows tokens files pages points votes rpm watts kcal kg grams "
    "personas dolares libras millas metros pasos palabras calorias veces horas minutos dias semanas meses "
    "anos lineas paginas puntos votos usuarios clientes and or y %"
)
_MORNING_BEFORE = _words("la esta una toda media buena cada de las tu mi su this in every")
_TIMES_BEFORE = _words("times once twice thrice days hours veces vez time day")
_PLAIN_AFTER = _words("i we you he she it they , . ? ! ; : ) and or yo y o")


def month(around: Around) -> bool:
    """Whether a month without day and year may be something else."""
    item = around.items[around.first]
    before = around.word_before()
    if before in _EVERY or (item.word == "mayo" and _food(around)):
        return True
    if item.word not in _NAMES | _VERBS or before in _SURELY_TIME or _alone(around):
        return False
    if (item.word in _VERBS and _verb(around, item)) or (item.word in _NAMES and _person(around, item)):
        return True
    if before in _CLOSED_TIME or _beside_month(around):
        return False
    return before not in _BARE_BEFORE or (around.cased and not item.capital)


def side_month(around: Around) -> bool:
    """`this may be` is no month."""
    words = [item.word for item in around.items[around.first : around.past]]
    return (
        words[0] == "this"
        and words[-1] in _VERBS
        and around.after() is not None
        and _verb(
            Around(around.items, around.past - 1, around.past, around.cased), around.items[around.past - 1]
        )
    )


def dated(around: Around) -> bool:
    """A month beside a number may still be a verb beside a count: `may 5 people come`."""
    pieces = around.items[around.first : around.past]
    if any(item.word == "ago" for item in pieces):  # August in Spanish, where a day and a year enclose it.
        return len(pieces) < 3 or pieces[0].word == "ago"
    named = next((item for item in pieces if item.word in _VERBS or item.word in {"mar", "sat", "sun"}), None)
    if named is None or any(item.kind in {"YEAR", "ORDINAL"} or item.word in {"of", "de"} for item in pieces):
        return False
    if around.cased and named.capital:
        return False
    if around.word_before() in _SURELY_TIME | _MAYBE_TIME:
        return False
    after = around.after()
    return after is not None and after.word not in _PLAIN_AFTER


def weekday(around: Around) -> bool:
    """Whether a bare weekday is a habit, or part of a name."""
    item = around.items[around.first]
    before, after = around.word_before(), around.word_after()
    if before in _HABIT_BEFORE or before in _TITLE_BEFORE or after in _COMPOUND:
        return True
    if before == "on" and around.word_before(2) in {"only", "always"}:
        return True
    following = around.after()
    if after == "night" and following is not None and following.capital and around.cased:
        return True
    if item.word == "domingo" and around.cased and item.capital:
        earlier = around.before()
        return earlier is not None and earlier.capital and around.first > 1
    return False


def short_weekday(around: Around) -> bool:
    """Mon, Sat and Sun are other words too: on Mon, since Sat."""
    item = around.items[around.first]
    if around.word_before() not in _SHORT_BEFORE:
        return True
    return not item.capital if around.cased else item.word in {"sun", "sat", "wed", "mon"}


def side_short_weekday(around: Around) -> bool:
    """Last Sat, but neither `this sun` nor `last wed`."""
    item = around.items[around.past - 1]
    return not item.capital if around.cased else item.word in {"sun", "wed", "mon"}


def short_month(around: Around) -> bool:
    """In Dec, since Oct; `mar` is the sea and Jan a person."""
    item = around.items[around.first]
    if around.word_before() not in _SHORT_BEFORE | _SURELY_TIME or item.word in {
        "mar",
        "ago",
        "ene",
        "abr",
        "dic",
    }:
        return True
    return around.cased and not item.capital


def season(around: Around) -> bool:
    return around.word_after() in _SEASON_COMPOUND or around.word_before() in _EVERY


def bare_season(around: Around) -> bool:
    """A season is a time after a word that says so: in the summer, since winter."""
    if around.word_after() in {"of", "de", "del"}:
        return not _year_next(around)
    steps = 1
    while around.word_before(steps) in {"the", "el", "la", "-", "of", "del", "de"} and steps < 3:
        steps += 1
    if around.word_before(steps) not in _SEASON_BEFORE:
        return True
    if around.word_before() == "de" and around.word_before(2) not in _SEASON_BEFORE:
        return True
    return (season(around) and around.word_after() not in {"of", "de", "del"}) or (
        around.word_after() in {"of", "de", "del"} and not _year_next(around)
    )


def weekend(around: Around) -> bool:
    """The weekend, el fin de semana; `a weekend` and `weekend plans` are any."""
    return around.word_before() not in {"the", "el", "del", "al"} or around.word_after() in {"de", "of"}


def kings(around: Around) -> bool:
    return around.word_before() not in {"en", "por", "desde", "hasta", "tras"}


def feast(around: Around) -> bool:
    return around.word_after() in _FEAST_COMPOUND or around.word_before() in _EVERY


def year(around: Around) -> bool:
    """Four digits are a year after a word that says so, or alone."""
    if _alone(around):
        return not _plausible(around)
    after = around.after()
    if around.word_before() not in _YEAR_BEFORE or not _plausible(around):
        return True
    return after is not None and (after.word in _COUNTED and after.word not in {"and", "or", "y"})


def quarter(around: Around) -> bool:
    """Q3 may stand alone; T3, the Spanish one, needs its year."""
    return "q" not in around.items[around.first].word


def years(around: Around) -> bool:
    """A pair of years, such as 2020-2022, next to other digits is a number of some other kind."""
    first, last = around.items[around.first], around.items[around.past - 1]
    return (
        not (1500 <= first.value < last.value <= 2199)
        or around.word_before() in {"-", "+"}
        or (around.word_after() == "-")
    )


def morning(around: Around) -> bool:
    """`mañana` after an article is the morning."""
    return around.word_before() in _MORNING_BEFORE and around.word_before(2) != "hasta"


def of_something(around: Around) -> bool:
    """`last week of June` is not last week."""
    return around.word_after() == "of" and around.word_after(2) not in {"work", "school", "classes"}


def minute(around: Around) -> bool:
    """`last minute`, `in a minute` and `five times in a week` tell no time."""
    words = [item.word for item in around.items[around.first : around.past]]
    return around.word_before() in _TIMES_BEFORE or (
        words[1] in {"a", "un", "one"}
        and words[-1] in {"minute", "minuto", "second", "hour", "hora", "day", "dia"}
    )


def nth(around: Around) -> bool:
    """`on the 5th` is a day, `on the 5th floor` is not."""
    after = around.after()
    return after is not None and after.word not in _PLAIN_AFTER


def _year_next(around: Around) -> bool:
    after = around.after(2)
    return after is not None and (
        after.kind in {"YEAR", "YEAR_SPAN"} or after.word in {"last", "this", "next", "ano"}
    )


def _food(around: Around) -> bool:
    before = around.word_before()
    return before in _FOOD_BEFORE - {"and", "y", "of"} or around.word_after() in {
        "ketchup",
        "mostaza",
        "mustard",
    }


def _alone(around: Around) -> bool:
    """The whole text, but for its marks."""
    if len(around.items) > 4:
        return False
    others = (*around.items[: around.first], *around.items[around.past :])
    return all(item.word in {"?", "!", ".", "", "¿", "¡"} for item in others)


def _plausible(around: Around) -> bool:
    return 1500 <= int(around.items[around.past - 1].value) <= 2199


def _beside_month(around: Around) -> bool:
    return (around.word_before() in {"and", "to", "-", "or", "y", "a"} and _is_month(around.before(2))) or (
        around.word_after() in {"and", "to", "-", "or", "y", "a"} and _is_month(around.after(2))
    )


def _is_month(item: Item | None) -> bool:
    return item is not None and (item.kind == "YEAR" or item.word in _MONTH_NAMES)


_MONTH_NAMES = _words(
    "january february march april may june july august september october november december enero febrero "
    "marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)


def _verb(around: Around, item: Item) -> bool:
    """May I, it may rain, march on, the march."""
    after = around.word_after()
    if after in _VERB_AFTER and around.word_before() not in _CLOSED_TIME:
        return True
    if around.cased and item.capital and around.first > 0 and around.word_before() not in {".", "?", "!"}:
        return False
    return around.word_before() not in _CLOSED_TIME | _SURELY_TIME and not _alone(around)


def _person(around: Around, item: Item) -> bool:
    before, following = around.word_before(), around.after()
    if _beside_month(around):
        return False
    if before in _PERSON_BEFORE or around.word_after() in _PERSON_AFTER:
        return True
    if item.word in _SPANISH_NAMES and around.cased and item.capital:
        return before not in {"desde", "hasta", "entre"}  # Spanish writes its months small.
    if before in _CLOSED_TIME:
        return False
    surname = following is not None and following.capital and following.kind == "word"
    return around.cased and item.capital and surname


def bound(around: Around) -> bool:
    """After 2019, but not after 2000 steps."""
    years_there = [item.value for item in around.items[around.first : around.past] if item.kind == "YEAR"]
    if not all(1500 <= year <= 2199 for year in years_there):
        return True
    return bool(years_there) and around.word_after() in _COUNTED - {"and", "or", "y"}
