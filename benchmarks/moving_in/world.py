"""The facts and questions that every peer gets, and hashed word vectors for peers that need vectors.

It runs in the peers' own environments, so it needs only the standard library.
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
"""An old fact and its correction."""
FORGOTTEN = "The spare key hangs behind the barometer"
QUESTIONS = (
    ("What is Marisol allergic to?", "walnuts"),
    ("When does the ferry to Porto leave?", "at ten"),
    ("Which port does the staging server of Tidebook run on?", "8443"),
)
"""Questions, each with a text that the answer contains."""
WANTED = 5
"""Number of hits in which an answer must be."""


def vector(text: str, dims: int) -> list[float]:
    """Return a normalised vector of hashed words, which finds texts that share words with a question."""
    numbers = [0.0] * dims
    for word in re.findall(r"\w+", text.lower()):
        numbers[int(hashlib.sha256(word.encode()).hexdigest(), 16) % dims] += 1.0
    length = sum(number * number for number in numbers) ** 0.5 or 1.0
    return [number / length for number in numbers]


def ranks(answers: list[list[str]]) -> list[int | None]:
    """Return the rank of each question's answer, or None if it is not among the wanted hits."""
    places: list[int | None] = []
    for (_, wanted), texts in zip(QUESTIONS, answers, strict=True):
        found = [place for place, text in enumerate(texts[:WANTED], 1) if wanted in text]
        places.append(found[0] if found else None)
    return places
