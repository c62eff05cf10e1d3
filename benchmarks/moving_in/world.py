"""What every peer is given to remember, what it is asked, and vectors of words for those that want some.

Only the standard library: this runs in the peers' own environments.
"""

from __future__ import annotations

import hashlib
import re

FACTS = (
    "Marisol Vega is allergic to walnuts",
    "Marisol Vega leads the harbour team since March 2024",
    "Jun Watanabe repairs the tide gauges every second Friday",
    "The harbour archive is kept in the old customs house",
    "Tidebook is written in Rust and stores its readings in SQLite",
    "The staging server of Tidebook runs on port 8443",
    "Marisol prefers tea to coffee and takes it without sugar",
    "Jun Watanabe plays the cello in a quartet",
    "The annual regatta starts from pier four at ten",
    "Invoices of the shipyard are paid within thirty days",
    "The lighthouse lamp was replaced with an LED in autumn 2023",
    "Marisol's sister Inés lives in Valparaíso",
    "The pilot boat is called Gaviota and needs new fenders",
    "Backups of Tidebook are taken every night at two",
    "The harbour master's radio listens on channel twelve",
    "Jun is learning Portuguese with a tandem partner from Recife",
    "The crane on quay two may lift forty tonnes",
    "Visitors sign the guest book at the north gate",
)
CHANGED = ("The ferry to Porto leaves at nine", "The ferry to Porto leaves at ten")
"""What was said first, and what replaced it."""
FORGOTTEN = "The spare key hangs behind the barometer"
QUESTIONS = (
    ("What is Marisol allergic to?", "walnuts"),
    ("When does the ferry to Porto leave?", "at ten"),
    ("Which port does the staging server of Tidebook run on?", "8443"),
)
"""Each with what its answer contains."""
WANTED = 5
"""An answer is among so many hits, or it is none."""


def vector(text: str, dims: int) -> list[float]:
    """Hashed words, of length 1: enough to find a text by the words of a question."""
    numbers = [0.0] * dims
    for word in re.findall(r"\w+", text.lower()):
        numbers[int(hashlib.sha256(word.encode()).hexdigest(), 16) % dims] += 1.0
    length = sum(number * number for number in numbers) ** 0.5 or 1.0
    return [number / length for number in numbers]


def ranks(answers: list[list[str]]) -> list[int | None]:
    """At which place each question's answer came; None: not among those wanted."""
    places: list[int | None] = []
    for (_, wanted), texts in zip(QUESTIONS, answers, strict=True):
        found = [place for place, text in enumerate(texts[:WANTED], 1) if wanted in text]
        places.append(found[0] if found else None)
    return places
