"""Claims: attributes of a subject that have one value at a time, and contradictions between them.

"Ana lives in Porto." claims where Ana lives; "My rent is 840 € a month." claims the amount of a rent.
Doubtful sentences claim nothing: questions, wishes, guesses, the past, pronouns without a name, and verbs
that take several objects ("likes pears"). Two texts contradict each other if they claim different values
of one attribute. Everything is read by rule, and only a clear contradiction counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product, takewhile

from recollect.domain.lazy_dataclass import dataclass
from recollect.language import claim_words as known
from recollect.language.claim_words import (
    WORDS,
    Sentence,
    Value,
    Word,
    names_in,
    sentences_in,
    stems_in,
    value_at,
)
from recollect.text.tokens import cache_short, light_stem

_MOST_SUBJECT_WORDS = 16
_MOST_VALUE_WORDS = 8
_MOST_MIDDLE_WORDS = 3
_NEAR_WORDS = 4
_TIME_GAP = 2
_USER = frozenset({"user"})
TIMES = frozenset({"weekday", "date", "time"})
SEVERAL = "one of several"
"""The kind of values that can be true together. Only a denial of the same value contradicts such a value."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One value of one attribute of one subject."""

    about: str
    """The subject and the attribute, in a form that is the same in every text about them."""
    kind: str
    """The kind of value: `name`, `weekday`, `amount mg` …"""
    value: frozenset[str]
    is_denied: bool
    is_named: bool
    """Whether a name or the speaker identifies the subject; otherwise texts may mean different subjects."""
    place: tuple[int, int]
    """The place of the sentence in the text."""


@dataclass(frozen=True, slots=True)
class Figure:
    """An amount, a time, a date or a code, and the topic of the sentence around it."""

    kind: str
    value: str
    near: tuple[str, ...]
    """The content words back to the previous figure, nearest first; then those after this figure."""
    topic: frozenset[str]
    """The content words of the whole sentence."""
    names: frozenset[str]
    is_only: bool
    """Whether the sentence has no other figure of this kind."""
    is_lasting: bool
    """Whether the sentence states a lasting fact rather than an event."""
    is_change: bool
    """Whether it states that something is new or has changed."""
    is_deed: bool
    """Whether it states an event without a change."""
    place: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of one text."""

    stated: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    names: frozenset[str] = frozenset()
    """The words of the text that are written as names."""


@cache_short(4_096, longest=2_000)  # one text is compared with many, and found by many queries
def claims_of(text: str, speaker: str = "", about: str = "") -> Claims:
    """Return the claims of a text. `speaker` is "I"; `about` is the subject of sentences that name none."""
    me, entity = stems_in(speaker) or _USER, stems_in(about)
    stated: list[Claim] = []
    figures: list[Figure] = []
    names = set(entity)
    for count, sentence in enumerate(sentences_in(text)):
        names |= names_in(sentence.words)
        reader = _Reader(sentence, me, entity, opens=count == 0)
        stated += reader.claims()
        figures += reader.figures()
    return Claims(tuple(dict.fromkeys(stated)), tuple(dict.fromkeys(figures)), frozenset(names))


@dataclass(frozen=True, slots=True)
class _Subject:
    stems: frozenset[str]
    has_attribute: bool = False
    """Whether it names an attribute of something: `my rent`, `the capital of Peru`."""
    has_attribute_noun: bool = False
    is_additive: bool = False
    """Whether there may be several: `my friend`."""
    is_name: bool = True
    is_named: bool = True


class _Reader:
    """A reader of the claims of one sentence."""

    def __init__(
        self, sentence: Sentence, me: frozenset[str], entity: frozenset[str], *, opens: bool
    ) -> None:
        self._words, self._asks, self._place = sentence.words, sentence.asks, sentence.place
        self._folded = [word.folded for word in sentence.words]
        self._me, self._entity, self._opens = me, entity, opens
        self._clauses = tuple(_clauses(self._folded))

    def claims(self) -> Iterator[Claim]:
        for start, stop in self._clauses:
            verbs = [place for place in range(start, stop) if self._words[place].is_verb]
            if not verbs or self._states_no_fact(start, stop) or (self._asks and stop == len(self._words)):
                continue
            for verb in verbs:
                subject = self._subject(verb)
                if subject is not None:
                    copula = self._folded[verb] in known.COPULAS
                    yield from (self._after_copula if copula else self._after_verb)(verb, subject)

    def figures(self) -> Iterator[Figure]:
        values = list(self._values())
        if not values:
            return
        taken = {at for place, value in values for at in range(place, place + value.length)}
        content = {
            place: word.stem
            for place, word in enumerate(self._words)
            if place not in taken
            and word.says_something
            # A passive verb states no attribute.
            and not word.is_past
            and word.folded not in WORDS["changes"]
            # `the second Wednesday`
            and not (place + 1 in taken and word.folded in WORDS["ordinals"])
        }
        topic = frozenset(content.values()) | self._entity
        names = names_in(self._words) & topic
        for start, stop in self._clauses:
            clause = self._folded[start:stop]
            changed = not WORDS["changes"].isdisjoint(clause)
            asks = self._asks and stop == len(self._words)
            if self._states_no_fact(start, stop) or (asks and not changed):
                continue
            here = [(place, value) for place, value in values if start <= place < stop]
            kinds = Counter(value.kind for _, value in here)
            deed = any(self._is_deed(place) for place in range(start, stop))
            for place, value in here:
                yield Figure(
                    value.kind,
                    value.what,
                    self._near(place, value, content, values),
                    topic,
                    names,
                    is_only=kinds[value.kind] == 1,
                    is_lasting=not deed and self._lasts(place, value, clause),
                    is_change=changed,
                    is_deed=deed and not changed,
                    place=self._place,
                )

    def _states_no_fact(self, start: int, stop: int) -> bool:
        """Whether a clause states no fact: it wishes, guesses, or is about the past."""
        if any(word.is_unsure for word in self._words[start:stop]):
            return True
        clause = self._folded[start:stop]
        if not WORDS["changes"].isdisjoint(clause):
            return False
        return not WORDS["once"].isdisjoint(clause) or any(
            word in WORDS["last"] and after in WORDS["spans"] for word, after in pairwise(clause)
        )

    def _lasts(self, place: int, value: Value, clause: Sequence[str]) -> bool:
        """Whether a figure states a lasting fact, as a weekly time does, and an appointment does not."""
        if value.kind not in TIMES or not known.STATING.isdisjoint(clause):
            return True
        after = self._folded[place + value.length : place + value.length + 2]
        has_year = any(len(word) == len("2019") and word.isdecimal() for word in after)
        # In a list, `Choir: Mondays` is a lasting fact; `Opening: 3 May 2019` is an event.
        return ":" in self._folded and not has_year

    def _near(
        self, place: int, value: Value, content: Mapping[int, str], values: Sequence[tuple[int, Value]]
    ) -> tuple[str, ...]:
        """Return the content words since the last figure, nearest first, then those after this figure."""
        # `Monday at 7` is one time.
        start = max(
            (
                at + each.length
                for at, each in values
                if at < place
                and not (TIMES.issuperset((value.kind, each.kind)) and place - at - each.length <= _TIME_GAP)
            ),
            default=0,
        )
        end = min((at for at, _ in values if at > place), default=len(self._words))
        before = [content[at] for at in range(place - 1, start - 1, -1) if at in content]
        after = [content[at] for at in range(place + value.length, end) if at in content]
        return tuple(before[:_NEAR_WORDS] + after[: _NEAR_WORDS - 1])

    def _is_deed(self, place: int) -> bool:
        """Whether a word is a past-tense verb, other than in `has added` or `is worried`."""
        before = self._folded[max(0, place - 3) : place]
        return self._words[place].is_past and known.AUXILIARIES.isdisjoint(before)

    def _values(self) -> Iterator[tuple[int, Value]]:
        end = 0
        for place, word in enumerate(self._words):
            if word.begins_figure and place >= end:
                value = value_at(self._words, place)
                end = place + (1 if value is None else value.length)
                if value is not None and value.kind != "number":
                    yield place, value

    def _subject(self, verb: int) -> _Subject | None:
        """Return the subject named before a verb; None if it is unclear."""
        first = verb
        while first > 0 and not self._ends_subject(first - 1):
            first -= 1
        if verb - first > _MOST_SUBJECT_WORDS:
            return None
        words = [word for word in self._words[first:verb] if word.folded not in known.LIGHT_VERBS]
        if not words:
            # `Vivo en Lima.` is about the speaker, `Lives in Lima.` about the observed entity.
            speaks = self._folded[verb] in WORDS["first_person_verbs"]
            implied = self._me if speaks else self._entity if first == 0 else None
            return _Subject(implied) if implied else None
        folded = [word.folded for word in words]
        if folded[0] in WORDS["pronouns"] or folded[-1] in WORDS["pronouns"]:
            return None
        mine = not WORDS["first_person"].isdisjoint(folded)
        content = [
            word
            for word in words
            if word.says_something and word.folded not in WORDS["first_person"] | WORDS["user"]
        ]
        stems = {word.stem for word in content}
        has_name = any(word.is_capital for word in words[1:]) or (words[0].is_capital and words[0] in content)
        definite = self._folded[first] in WORDS["definite"]
        # `The film` after other sentences refers to a film in those sentences.
        points_back = definite and not self._opens and not mine and len(stems) == 1
        if points_back or (not stems and not mine and WORDS["user"].isdisjoint(folded)):
            return None
        if mine or not WORDS["user"].isdisjoint(folded):
            stems |= self._me
        owned = mine or any(word.is_possessive or word.folded in WORDS["described_by"] for word in words)
        return _Subject(
            frozenset(stems),
            has_attribute=bool(content) and (owned or definite) and len(stems) > 1,
            has_attribute_noun=not WORDS["attributes"].isdisjoint(folded),
            is_additive=any(word.text in WORDS["several"] for word in words),
            is_name=bool(content) and all(word.is_capital for word in content),
            # `baseball` means the same in every text; `the team` does not.
            is_named=mine
            or has_name
            or (self._opens and (len(content) > 1 or self._folded[first] not in known.DETERMINERS)),
        )

    def _ends_subject(self, place: int) -> bool:
        """Whether a subject cannot reach back beyond this word."""
        word = self._words[place]
        if word.is_mark:
            return True
        if word.folded in WORDS["relative_words"] and self._folded[0] in WORDS["definite"]:
            return False  # `the school where she was taught is …`
        return word.folded in known.BREAKS or word.folded in known.COPULAS

    def _is_denied(self, verb: int) -> bool:
        return not WORDS["denied"].isdisjoint(self._folded[max(0, verb - 3) : verb + 3])

    def _after(self, verb: int) -> list[Word]:
        return [word for word in self._words[verb + 1 :] if word.folded not in known.LIGHT_WORDS]

    def _after_copula(self, verb: int, subject: _Subject) -> Iterator[Claim]:
        rest = self._after(verb)
        if not rest or rest[0].is_mark or subject.is_additive:
            return
        is_now = self._folded[verb] in WORDS["is_now"]
        yield from self._qualifier_claims(verb, subject, rest, is_now=is_now)
        if not is_now:
            return
        if subject.is_name and self._folded[verb + 1] in WORDS["definite"]:
            role = _role(rest)
            if role and not self._is_denied(verb):
                # `Ada is the head of Acme` says who the head of Acme is.
                yield Claim(_about(role, "be"), "name", subject.stems, False, True, self._place)
        in_place = rest[0].folded in WORDS["placing"]
        kind, value = _value(rest[in_place:])
        article = self._words[verb + 1].folded in WORDS["indefinite"]
        if kind == "name" and in_place and not article:
            yield self._claim(verb, subject, "be in", kind, value)
        elif kind in TIMES or kind.startswith("status"):
            yield self._claim(verb, subject, "be", kind, value)
        elif kind == "word":
            if subject.has_attribute and subject.has_attribute_noun and not in_place and not article:
                yield self._claim(verb, subject, "be", "name", value)
        elif value and subject.has_attribute and not in_place:
            yield self._claim(verb, subject, "be", kind, value)

    def _qualifier_claims(
        self, verb: int, subject: _Subject, rest: Sequence[Word], *, is_now: bool
    ) -> Iterator[Claim]:
        """Yield claims such as `is located in Oslo`, `was founded by Ada`, `is a citizen of Peru`."""
        size = 0
        while size < min(len(rest), _MOST_MIDDLE_WORDS) and _is_plain(rest[size]):
            size += 1
        if not 0 < size < len(rest) or rest[size].folded not in WORDS["prepositions"]:
            return
        heads = [word.folded for word in rest[:size]]
        lasts = not WORDS["lasting_deeds"].isdisjoint(heads)
        several = not lasts and not known.ADDITIVE.isdisjoint(heads)
        if any(head.endswith("ing") for head in heads):
            return
        described, values = _split_description(rest[size + 1 :])
        kind, value = _value(values)
        if (is_now or lasts) and (kind == "name" or (kind == "word" and described)):
            relation = " ".join(("be", *(word.stem for word in rest[: size + 1]), *described))
            yield self._claim(verb, subject, relation, SEVERAL if several else "name", value)
        elif several and is_now and kind == "word":
            relation = " ".join(("be", *(word.stem for word in rest[: size + 1])))
            yield self._claim(verb, subject, relation, SEVERAL, value)

    def _after_verb(self, verb: int, subject: _Subject) -> Iterator[Claim]:
        word = self._folded[verb]
        relation = known.RELATION_OF[word]
        rest = self._after(verb)
        if not rest or rest[0].is_mark:
            return
        preposition = rest[0].folded if rest[0].folded in WORDS["prepositions"] else ""
        described, values = _split_description(rest[1:] if preposition else rest)
        kind, value = _value(values)
        typed = kind in {"money", "percent"} or kind.startswith("amount") or "per" in kind
        match relation:
            case "live" | "work" | "study" | "die":
                fits = preposition in known.PLACE_PREPOSITIONS.get(word, known.PLACE_PREPOSITIONS[relation])
                holds = fits and (kind == "name" or (kind == "word" and bool(described)))
            case "start" | "end" | "open" | "close" | "meet" | "leave" | "arrive" | "wake":
                holds = kind in TIMES
            case "cost" | "earn" | "pay" | "weigh" | "take" | "have":
                holds = typed
            case "play" | "speak":
                holds = bool(described) or (relation == "play" and preposition == "for" and kind == "name")
            case "several":
                holds = kind in {"name", "word"} and not preposition
                relation, kind, typed = self._words[verb].stem, SEVERAL, True
            case _:
                holds = kind == "name" and not preposition
        if holds and value:
            kind = kind if typed or kind in TIMES else "name"
            yield self._claim(verb, subject, " ".join((relation, *described)), kind, value)

    def _claim(self, verb: int, subject: _Subject, relation: str, kind: str, value: frozenset[str]) -> Claim:
        about, denied = _about(subject.stems, relation), self._is_denied(verb)
        return Claim(about, kind, value, denied, subject.is_named, self._place)


def _about(stems: frozenset[str], relation: str) -> str:
    return f"{' '.join(sorted(stems))} | {relation}"


def _clauses(folded: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the bounds of clauses, which end at commas and at words such as `but`."""
    start = 0
    for place, word in enumerate(folded):
        if word == "," or word in WORDS["clause_words"]:
            if place > start:
                yield start, place
            start = place + 1
    if start < len(folded):
        yield start, len(folded)


def _role(rest: Sequence[Word]) -> frozenset[str]:
    """Return the words of a role such as `head of Acme`; empty if no role follows."""
    words = list(takewhile(lambda word: not word.is_mark and word.folded not in known.BREAKS, rest))
    folded = {word.folded for word in words}
    if WORDS["described_by"].isdisjoint(folded) or not known.ADDITIVE.isdisjoint(folded):
        return frozenset()
    return frozenset(word.stem for word in words if word.says_something)


def _is_plain(word: Word) -> bool:
    """Whether a word is in lower case and may describe something."""
    return (
        word.text.islower() and word.folded not in WORDS["prepositions"] and word.folded not in known.BREAKS
    )


def _split_description(words: Sequence[Word]) -> tuple[tuple[str, ...], Sequence[Word]]:
    """Split `city of Oslo` into its description and its value."""
    for size in (1, 2):
        linked = len(words) > size + 1 and words[size].folded in WORDS["described_by"]
        if linked and all(map(_is_plain, words[:size])):
            return tuple(word.stem for word in words[:size]), words[size + 1 :]
    return (), words


_NO_VALUE: tuple[str, frozenset[str]] = ("", frozenset())


def _value(words: Sequence[Word]) -> tuple[str, frozenset[str]]:
    """Return the kind of value that the words begin with, and the value; both empty if no value follows."""
    if not words or words[0].is_mark:
        return _NO_VALUE
    if figure := value_at(words, 0):
        return figure.kind, frozenset({figure.what})
    taken: list[Word] = []
    for place, word in enumerate(words):
        # `Bosnia and Herzegovina` is one name.
        inside = 0 < place < len(words) - 1 and words[place - 1].is_capital and words[place + 1].is_capital
        ends = word.folded in known.VALUE_ENDS and not inside
        if ends or word.is_mark or word.folded in known.COPULAS:
            break
        taken.append(word)
    content = [word for word in taken if word.says_something]
    unclear = any(word.text in known.PERSONAL or word.folded in WORDS["denied"] for word in taken)
    if unclear or not 0 < len(content) <= _MOST_VALUE_WORDS:
        return _NO_VALUE
    if len(taken) == 1 and taken[0].folded in known.STATUS_OF:
        return f"status {known.STATUS_OF[taken[0].folded]}", frozenset({taken[0].folded})
    stems = frozenset(word.stem for word in content)
    if content[0].is_capital or content[-1].is_capital:
        return "name", stems
    goes_on = len(taken) < len(words) and not words[len(taken)].is_mark
    describes = content[-1].folded.endswith(known.ADJECTIVE_ENDINGS)
    return _NO_VALUE if goes_on or describes else ("word", stems)


# Contradictions between the claims of two texts

_CODE_STEMS = frozenset(map(light_stem, WORDS["code_nouns"]))
_SHARED_WORDS = 2
_SHARED_TOPIC = 0.5
"""Sentences about one thing share at least this part of the shorter sentence's content words."""
_SHARED_NAMES = 1 / 3
"""Texts about one thing share at least this part of the names of the text with fewer."""
_MAX_COMPARED = 64
"""Maximum number of texts about one thing to compare in pairs."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The places of two sentences that contradict each other."""

    first: tuple[int, int]
    second: tuple[int, int]
    is_of_time: bool
    """Whether they differ in a time: a weekday, a date, an hour."""


def find_conflict(one: Claims, other: Claims) -> Contradiction | None:
    """Return the first contradiction between two texts; None if both can be true."""
    fewest = min(len(one.names), len(other.names))
    unrelated = len(one.names & other.names) < _SHARED_NAMES * fewest
    for mine, theirs in product(one.stated, other.stated):
        of_one_thing = mine.about == theirs.about and (mine.is_named or not unrelated)
        if of_one_thing and _excludes(mine, theirs) and _is_only(one, mine) and _is_only(other, theirs):
            return Contradiction(mine.place, theirs.place, mine.kind in TIMES)
    if unrelated:
        return None
    names = one.names & other.names
    for figure, another in product(one.figures, other.figures):
        if figure.kind != another.kind or figure.value == another.value:
            continue
        # Both describe the present, or one states a change; otherwise both may have happened.
        changed = (figure.is_change or another.is_change) and not (figure.is_deed or another.is_deed)
        lasts = changed or (figure.is_lasting and another.is_lasting)
        if lasts and _of_one_thing(figure, another, names):
            return Contradiction(figure.place, another.place, figure.kind in TIMES)
    return None


def contradicting_pairs(texts: Sequence[Claims]) -> list[tuple[int, int, Contradiction]]:
    """Return pairs of contradicting texts, the lower place first; only texts about one thing are compared."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, claims in enumerate(texts):
        for about in {claim.about for claim in claims.stated} | {
            f"{figure.kind} {stem}" for figure in claims.figures for stem in figure.topic
        }:
            places[about].append(place)
    pairs = {pair for group in places.values() for pair in combinations(group[:_MAX_COMPARED], 2)}
    return [
        (first, second, found)
        for first, second in sorted(pairs)
        if (found := find_conflict(texts[first], texts[second])) is not None
    ]


def _excludes(one: Claim, other: Claim) -> bool:
    if one.is_denied != other.is_denied:
        return one.kind == other.kind and one.value == other.value
    if one.is_denied or one.kind != other.kind or one.kind == SEVERAL:
        return False
    # `Acme` and `Acme Ltd` may be the same.
    return not (one.value <= other.value or other.value <= one.value)


def _is_only(claims: Claims, claim: Claim) -> bool:
    """Whether a text states only one value for this attribute; two values are a list."""
    return claim.kind == SEVERAL or all(
        each.value == claim.value
        for each in claims.stated
        if (each.about, each.kind) == (claim.about, claim.kind)
    )


def _of_one_thing(one: Figure, other: Figure, names: frozenset[str]) -> bool:
    """Whether two figures of one kind measure the same thing, by the words near them."""
    # Each has a name or ordinal that the other lacks: two people, or two of a series.
    mine, theirs = (
        one.names | (one.topic & WORDS["ordinals"]),
        other.names | (other.topic & WORDS["ordinals"]),
    )
    if mine - other.topic and theirs - one.topic:
        return False
    shared, near = one.topic & other.topic, set(one.near) & set(other.near)
    if one.near[:1] == other.near[:1] != ():
        if one.kind == "code":
            return one.near[0] in _CODE_STEMS
        within = one.topic <= other.topic or other.topic <= one.topic
        changed = (one.is_change or other.is_change) and (within or one.kind not in TIMES)
        return changed or len(shared) >= _SHARED_WORDS or bool(names - near) or " per " in one.kind
    # Several figures of a kind are a list: only the word next to each says what it measures.
    if not (one.is_only and other.is_only) or one.kind == "code":
        return False
    # Amounts of two things: `supper: 900 $ for the roof`, `tickets for the supper: 20 $`.
    unrelated = not {*one.near[:1]} <= other.topic and not {*other.near[:1]} <= one.topic
    if unrelated and one.kind not in TIMES and not (one.is_change or other.is_change):
        return False
    enough = max(_SHARED_WORDS, _SHARED_TOPIC * min(len(one.topic), len(other.topic)))
    return bool(near) and (len(near) >= _SHARED_WORDS or " per " in one.kind or len(shared) > enough)
