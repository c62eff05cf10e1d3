"""Split a text into tokens, and check by their context whether they name times."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.words import ENGLISH, SPANISH, month_names, sections
from recollect.text.tokens import fold

# The kinds of pieces of a folded text. The first alternative that matches wins. Each has a limited length or
# is possessive, so that matching takes linear time. `price` and `odd` are numbers that are never dates.
_PIECES = re.compile(
    r"""
      (?P<word>[^\W\d_]++(?!\w))
    | (?P<gap>\n[^\S\n]*\n)
    | (?P<price>[$€£¥\#][ ]?[0-9][0-9.,]*+\w*+)
    | (?P<iso>[0-9]{4}-[0-9]{2}-[0-9]{2}
        (?:[t ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:z|[ ]?[+-][0-9]{2}:?[0-9]{2})?)?)(?![\w/:])
    | (?P<date>[0-9]{4}(?:/[0-9]{1,2}/|-[0-9]{1,2}-)[0-9]{1,2}
        |[0-9]{1,2}(?P<bar>[/.-])[0-9]{1,2}(?P=bar)[0-9]{4}
        |[0-9]{1,2}/[0-9]{1,2}/[0-9]{2})(?![\w/-]|[.,:][0-9])
    | (?P<yearmonth>[0-9]{4}-[0-9]{2})(?![\w/:]|-[0-9])
    | (?P<clock>[0-9]{1,2}(?::[0-9]{2})?[ ]?[ap](?:m\b|\.m\.)|[0-9]{1,2}:[0-9]{2}(?:h\b|(?![\w:]))
        |[0-9]{1,2}[ ]?h\b)
    | (?P<decade>['’]?(?:[12][0-9])?[0-9]0['’]?s\b)
    | (?P<ordinal>[0-9]{1,2}(?:st|nd|rd|th|o|ro|er)\b)
    | (?P<odd>[0-9]++(?:[.,:/][0-9]++)++\w*+%?|[0-9]++(?:\w++|%))
    | (?P<quarter>[qt][1-4]\b|[1-4][qt]\b)
    | (?P<number>[0-9]++)
    | (?P<other>\w++)
    | (?P<mark>['’]s\b|\.{2,3}|[^\w\s])
    """,
    re.VERBOSE,
)
_SAME_MARKS = {"–": "-", "—": "-", "−": "-", "’": "'", "’s": "'s", "...": "..", "‐": "-", "‑": "-"}


class Token(NamedTuple):
    """A piece of text, or the result of a grammar rule for several pieces."""

    kind: str
    word: str
    value: Any
    start: int
    stop: int
    capital: bool = False


@dataclass(frozen=True, slots=True)
class TokenizedText:
    tokens: tuple[Token, ...]
    places: tuple[int, ...] | None
    """The original place of each character of the folded text; None if folding moved no character."""
    cased: bool
    """Whether capital letters distinguish names in this text."""

    def place(self, start: int, stop: int) -> tuple[int, int]:
        """Return the place in the original of a part of the folded text."""
        if self.places is None:
            return start, stop
        return self.places[start], max(self.places[stop], self.places[stop - 1] + 1)


def tokenize(text: str) -> TokenizedText:
    folded, places = _fold_with_places(text)
    tokens = []
    for match in _PIECES.finditer(folded):
        kind, word = match.lastgroup or "", match.group()
        start, stop = match.span()
        if kind == "mark":
            tokens.append(Token("word", _SAME_MARKS.get(word, word), None, start, stop))
            continue
        value = None
        if kind != "word":
            kind, value = _parse_word(kind, word)
        capital = text[start if places is None else places[start]].isupper()
        tokens.append(Token(kind, word, value, start, stop, capital))
    return TokenizedText(tuple(tokens), places, text != text.lower() and text != text.upper())


def _parse_word(kind: str, word: str) -> tuple[str, Any]:
    match kind:
        case "number":
            value = int(word) if len(word) <= 6 else 0
            is_day = len(word) <= 2 and 1 <= value <= 31
            return ("YEAR" if len(word) == 4 else "DAYNUM" if is_day else "INT"), value
        case "ordinal" | "quarter":
            return kind.upper(), int(re.sub(r"\D", "", word))
        case "clock":
            return kind.upper(), _clock(word)
        case "decade":
            year = int(re.sub(r"\D", "", word))
            return kind.upper(), year if year >= 100 else full_year(year)
        case _:
            return kind.upper(), word


def full_year(decade: int) -> int:
    """Return the full year of a decade: 1990 for 90, and 2020 for 20."""
    return decade + (1900 if decade >= 30 else 2000)


def _clock(word: str) -> tuple[int, int | None]:
    """Read the hour, and the minute if it is written."""
    numbers = [int(number) for number in re.findall("[0-9]+", word)]
    hour = numbers[0]
    if "p" in word and hour < 12:
        hour += 12
    elif "a" in word and hour == 12:
        hour = 0
    return hour, numbers[1] if len(numbers) > 1 else None


def _fold_with_places(text: str) -> tuple[str, tuple[int, ...] | None]:
    """Fold the text; if characters were dropped or added, also return the original place of each."""
    if text.isascii():
        return text.lower(), None
    plain = {ord(letter): fold(letter) for letter in set(text)}
    if all(len(letter) == 1 for letter in plain.values()):
        return text.translate(plain), None
    places: list[int] = []
    for index, letter in enumerate(text):
        places += [index] * len(plain[ord(letter)])
    return text.translate(plain), (*places, len(text))


# Checks that rules name after `unless`. If a check is true, the rule does not apply.

_SPANISH_NAMES = frozenset(sections("time", SPANISH)["month names"].split())
_MONTHS = frozenset((*month_names(ENGLISH), *month_names(SPANISH)))
_MARKS = frozenset({"?", "!", ".", "", "¿", "¡"})
# The token before the start and after the end of a text.
_END = Token("", "", None, 0, 0)


class Match(NamedTuple):
    """A match of a rule, and all tokens around it."""

    tokens: Sequence[Token]
    first: int
    past: int
    cased: bool
    """Whether capital letters distinguish names."""
    words: Mapping[str, frozenset[str]]
    """The words of each section of the grammar's languages."""

    @property
    def own_tokens(self) -> Sequence[Token]:
        return self.tokens[self.first : self.past]

    def token(self, steps: int) -> Token:
        """Return the token `steps` after the match, or before it if negative; empty beyond the text."""
        index = self.past + steps - 1 if steps > 0 else self.first + steps
        return self.tokens[index] if 0 <= index < len(self.tokens) else _END

    def word(self, steps: int) -> str:
        return self.token(steps).word


def after_from(match: Match) -> bool:
    """Whether `from` precedes: `from Monday to Friday` is this week, `Monday to Friday` a habit."""
    return match.word(-1) == "from"


def no_month(match: Match) -> bool:
    """Whether a month without day and year may be something else."""
    token, names, verbs = match.tokens[match.first], match.words["month names"], match.words["month verbs"]
    before = match.word(-2 if match.word(-2) in match.words["month edges"] else -1)
    is_food = match.word(-1) in match.words["food before"] or match.word(1) in match.words["food after"]
    if before in match.words["every"] or (token.word == "mayo" and is_food):
        return True
    if token.word not in names | verbs or before in match.words["surely time"] or _is_alone(match):
        return False
    if _beside_month(match) and (
        token.word not in verbs or match.word(1) not in match.words["verb after"] - {"to"}
    ):
        return False
    if (token.word in verbs and _is_verb(match, token)) or (token.word in names and _is_person(match, token)):
        return True
    if before in match.words["closed time"]:
        return False
    is_month = token.capital if match.cased else token.word in names - verbs - {"august"}
    return before not in match.words["bare before"] or not is_month


def no_sided_month(match: Match) -> bool:
    """Whether a month after `this` or the like is a verb: `this may be`."""
    first, last = match.own_tokens[0], match.own_tokens[-1]
    alone = match._replace(first=match.past - 1)
    is_this = first.word == "this" and last.word in match.words["month verbs"]
    return is_this and match.token(1) is not _END and _is_verb(alone, last)


def no_date(match: Match) -> bool:
    """Whether a month beside a number is a verb beside a count: `may 5 people come`."""
    tokens, words = match.own_tokens, match.words
    if any(token.word == "ago" for token in tokens):  # Spanish for August if it is between a day and a year
        return len(tokens) < 3 or tokens[0].word == "ago"
    named = next(
        (token for token in tokens if token.word in words["month verbs"] | words["short lookalikes"]), None
    )
    if named is None or any(
        token.kind in {"YEAR", "ORDINAL"} or token.word in match.words["of"] for token in tokens
    ):
        return False
    if (match.cased and named.capital) or match.word(-1) in words["surely time"] | words["maybe time"]:
        return False
    return counts_things(match)


def no_weekday(match: Match) -> bool:
    """Whether a bare weekday is a habit, or part of a name."""
    token, before, after, words = match.tokens[match.first], match.word(-1), match.word(1), match.words
    if before in words["habit before"] | words["title before"] or after in words["weekday compounds"]:
        return True
    if before == "on" and match.word(-2) in match.words["habit adverbs"]:
        return True
    if after == "night" and match.token(1).capital and match.cased:
        return True
    is_surname = token.word == "domingo" and match.cased and token.capital
    return is_surname and match.token(-1).capital and match.first > 1


def no_short_weekday(match: Match) -> bool:
    """Whether Mon, Sat or Sun may be another word; `on Mon` and `since Sat` are days."""
    token = match.tokens[match.first]
    if match.word(-1) not in match.words["short before"]:
        return True
    return not token.capital if match.cased else token.word in match.words["weekday lookalikes"]


def no_sided_weekday(match: Match) -> bool:
    """Whether a short weekday is another word: `this sun`, `last wed`, but not `last Sat`."""
    token = match.tokens[match.past - 1]
    return not token.capital if match.cased else token.word in match.words["weekday lookalikes"] - {"sat"}


def no_short_month(match: Match) -> bool:
    """Whether a short month is another word: `mar` is the sea, Jan a person; `in Dec` is a month."""
    token = match.tokens[match.first]
    if match.word(-1) not in match.words["short before"] | match.words["surely time"]:
        return True
    return token.word in match.words["month lookalikes"] or (match.cased and not token.capital)


def no_season(match: Match) -> bool:
    return match.word(1) in match.words["season compounds"] or match.word(-1) in match.words["every"]


def no_bare_season(match: Match) -> bool:
    """Whether no word before a season marks it as a time, as in `in the summer`, `since winter`."""
    if match.word(1) in match.words["of"] | match.words["of the"]:
        following = match.token(2)
        return following.kind not in {"YEAR", "YEAR_SPAN"} and following.word not in match.words["year words"]
    steps = 1
    while match.word(-steps) in match.words["season links"] and steps < 3:
        steps += 1
    if match.word(-steps) not in match.words["season before"]:
        return True
    if match.word(-1) == "de" and match.word(-2) not in match.words["season before"]:
        return True
    return no_season(match)


def any_weekend(match: Match) -> bool:
    """Whether any weekend is meant: `a weekend`, `weekend plans`, but not `the weekend`."""
    return match.word(-1) not in match.words["weekend articles"] or match.word(1) in match.words["of"]


def no_kings(match: Match) -> bool:
    return match.word(-1) not in match.words["kings before"]


def no_feast(match: Match) -> bool:
    return match.word(1) in match.words["feast compounds"] or match.word(-1) in match.words["every"]


def no_year(match: Match) -> bool:
    """Whether four digits are not a year: they are neither alone nor after a word that marks a year."""
    last, following = match.own_tokens[-1], match.token(1)
    if _is_alone(match) or not is_plausible(last.value):
        return not is_plausible(last.value)
    if following.word == "-" and following.start == last.stop:
        return True  # 2024-W10
    return match.word(-1) not in match.words["year before"] or match.word(1) in match.words["counted"]


def no_quarter(match: Match) -> bool:
    """Whether a quarter lacks the year that it needs: Spanish `T3` needs one, `Q3` does not."""
    return "q" not in match.tokens[match.first].word


def no_year_range(match: Match) -> bool:
    """Whether a pair such as 2020-2022 is part of a longer number, with other digits around it."""
    first, last = match.own_tokens[0].value, match.own_tokens[-1].value
    if not (is_plausible(first) and is_plausible(last) and first < last):
        return True
    return match.word(-1) in {"-", "+"} or match.word(1) == "-" or match.word(1) in match.words["counted"]


def is_morning(match: Match) -> bool:
    """Whether `mañana` means the morning: it follows an article."""
    return match.word(-1) in match.words["morning before"] and match.word(-2) != "hasta"


def of_something(match: Match) -> bool:
    """Whether `of` follows: `last week of June` is not last week."""
    return match.word(1) == "of" and match.word(2) not in match.words["weeks of"]


def short_while(match: Match) -> bool:
    """Whether the phrase names no time: `last minute`, `in a minute`, `five times in a week`."""
    words = [token.word for token in match.own_tokens]
    is_short = words[1] in match.words["single"] and words[-1] in match.words["short whiles"]
    return is_short or match.word(-1) in match.words["times before"]


def no_bound(match: Match) -> bool:
    """Whether the number is a count: `after 2000 steps`, but not `after 2019`."""
    values = [token.value for token in match.own_tokens if token.kind == "YEAR"]
    return not all(map(is_plausible, values)) or (bool(values) and match.word(1) in match.words["counted"])


def counts_things(match: Match) -> bool:
    """Whether the number counts things: `on the 5th floor`, but not `on the 5th`."""
    return match.token(1) is not _END and match.word(1) not in match.words["plain after"]


def _is_alone(match: Match) -> bool:
    """Whether the match is the whole text, except punctuation."""
    others = (*match.tokens[: match.first], *match.tokens[match.past :])
    return len(match.tokens) <= 4 and all(token.word in _MARKS for token in others)


def is_plausible(year_number: int) -> bool:
    return 1500 <= year_number <= 2199


def _beside_month(match: Match) -> bool:
    return any(
        match.word(step) in match.words["joining"]
        and (match.token(2 * step).kind == "YEAR" or match.word(2 * step) in _MONTHS)
        for step in (-1, 1)
    )


def _is_verb(match: Match, token: Token) -> bool:
    """Whether a month is another word: `may I`, `it may rain`, `march on`, `the march`."""
    before = match.word(-1)
    if match.word(1) in match.words["verb after"] and before not in match.words["closed time"]:
        return True
    if match.cased and token.capital and match.first > 0 and before not in {".", "?", "!"}:
        return False
    return before not in match.words["closed time"] | match.words["surely time"] and not _is_alone(match)


def _is_person(match: Match, token: Token) -> bool:
    before, following = match.word(-1), match.token(1)
    if _beside_month(match):
        return False
    if before in match.words["person before"] or following.word in match.words["person after"]:
        return True
    named = match.cased and token.capital
    if token.word in _SPANISH_NAMES and named:
        return before not in match.words["name range words"]  # Spanish months are in lower case.
    # A first name, before a surname.
    surname = following.capital and following.kind == "word"
    return named and surname and before not in match.words["closed time"]
