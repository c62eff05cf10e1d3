"""The screens of the dashboard, in the order in which they are listed."""

from __future__ import annotations

from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Screen:
    name: str
    title: str
    path: str
    key: str
    """After `g`, it goes there."""


SCREENS = (
    Screen("recall", "Recall", "/recall", "r"),
    Screen("why-not", "Why not", "/why-not", "w"),
    Screen("browse", "Browse", "/browse", "b"),
    Screen("graph", "Graph", "/graph", "e"),
    Screen("timeline", "Timeline", "/timeline", "t"),
    Screen("dreams", "Dreams", "/dreams", "d"),
    Screen("settle", "To settle", "/settle", "s"),
    Screen("answers", "Answers", "/answers", "a"),
    Screen("quality", "Quality", "/quality", "q"),
    Screen("health", "Health", "/health", "h"),
)
