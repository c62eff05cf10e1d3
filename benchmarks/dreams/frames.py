"""The contents of a simulated life: templates for facts and questions, and the words that fill them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Frame:
    topic: str
    tellings: tuple[str, ...]
    questions: tuple[str, ...]


def _load_frames() -> tuple[Frame, ...]:
    frames = []
    topic = ""
    for line in _FOLDER.joinpath("frames.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            topic = line.strip("[]")
        elif line and not line.startswith("#"):
            tellings, questions = (tuple(one.strip() for one in side.split("|")) for side in line.split("||"))
            frames.append(Frame(topic, tellings, questions))
    return tuple(frames)


_FRAMES = _load_frames()
WORK = tuple(frame for frame in _FRAMES if frame.topic == "work")
"""Frames of projects, which are busy for some weeks and then quiet."""
HABITS = tuple(frame for frame in _FRAMES if frame.topic == "habits")
FACTS = tuple(frame for frame in _FRAMES if frame not in (*WORK, *HABITS))
"""Frames of facts that are stated once, and perhaps needed once."""
# Details that make one occurrence of a habit different.
DETAILS = (
    "This time {other} came along.",
    "It rained, and we left early for {place}.",
    "{other} told me about {book}.",
    "On the way I met {other} near {street}.",
    "Afterwards we went to {restaurant}.",
    "I forgot the {thing}.",
    "{other} is back from {city}.",
    "Talked about {hobby} the whole time.",
    "{other} brought {dish}.",
    "Heard that {company} is hiring.",
)
# Repetitions that differ by a word or two.
AGAIN = (
    "Reminder: {text}",
    "Again: {text}",
    "{text} As usual.",
    "FYI, {text}",
    "{text} Same as ever.",
    "Today: {text}",
    "Note: {text}",
    "Once more: {text}",
    "{text} Nothing new.",
    "By the way, {text}",
)


def _load_words() -> dict[str, tuple[str, ...]]:
    lines = _FOLDER.joinpath("words.txt").read_text(encoding="utf-8").splitlines()
    read = (line.split(": ", 1) for line in lines if not line.startswith("#"))
    return {slot: tuple(words.split(", ")) for slot, words in read}


_WORDS = _load_words()
_FIRST, _LAST, _MONTHS = _WORDS.pop("first"), _WORDS.pop("last"), _WORDS["month"]
PEOPLE = tuple(
    f"{first} {_LAST[(7 * place + 3 * turn) % len(_LAST)]}"
    for turn in range(3)
    for place, first in enumerate(_FIRST)
)
_PARTS = ("alpha", "north", "v2", "specs", "legal", "final", "plans")
SLOTS: dict[str, tuple[str, ...]] = {
    **_WORDS,
    "person": PEOPLE,
    "other": PEOPLE,
    "winner": ("I", *_FIRST[:12]),
    "doctor": tuple(f"Dr {name}" for name in _LAST),
    "author": tuple(f"{first[0]}. {last}" for first, last in zip(_FIRST, reversed(_LAST), strict=False)),
    "host": tuple(f"{name}-{at:02}" for name in ("alder", "birch", "cedar", "maple") for at in range(1, 13)),
    "folder": tuple(f"{name}/{part}" for name in ("shared", "archive", "team", "draft") for part in _PARTS),
    "letter": tuple("ABCDEFGHJKLMN"),
    "code": tuple(
        f"{name}-{at}" for name in ("KX", "RT", "BZ", "QM", "VL", "HD") for at in range(1204, 9800, 137)
    ),
    "date": tuple(f"{day} {month}" for month in _MONTHS for day in range(1, 29, 2)),
    "clock": tuple(f"{hour}:{minute:02}" for hour in range(6, 23) for minute in (4, 17, 26, 38, 49)),
    "price": tuple(str(price) for price in range(12, 480, 7)),
    "amount": tuple(f"{amount},000" for amount in range(2, 96, 3)),
    "phone": tuple(f"0{area} {at}" for area in (30, 40, 61, 89) for at in range(214_560, 990_000, 31_337)),
    "size": tuple(str(size) for size in range(35, 48)),
    "number": tuple(str(number) for number in range(3, 98)),
    "count": tuple(str(count) for count in range(2, 40)),
    "minutes": tuple(str(minutes) for minutes in range(10, 95, 5)),
    "days": tuple(str(days) for days in range(2, 15)),
}
