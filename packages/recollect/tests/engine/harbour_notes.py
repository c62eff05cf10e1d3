"""A dozen notes of a harbour, for the tests of confidence and of learning it."""

from __future__ import annotations

NOTES = (
    "Marisol Vega is allergic to hazelnuts and carries an antihistamine",
    "The harbour office opens at nine on weekdays",
    "Ana moved from Porto to a small flat in Lisbon",
    "We decided to keep the tide tables in SQLite",
    "The grey cat of the lighthouse is called Biscuit",
    "Tomas repairs outboard engines behind the fish market",
    "The annual regatta starts at the northern breakwater",
    "Ingrid bakes rye bread for the whole street on Fridays",
    "The spare key of the boathouse hangs behind the barometer",
    "A dredger will deepen the channel before the winter storms",
    "Old charts of the estuary are kept in the mapping room",
    "Captain Reyes retired after forty years on the ferry",
)
