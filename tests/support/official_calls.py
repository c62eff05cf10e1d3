"""Random calls of the nine tools on which both servers must agree.

They keep clear of the differences that docs/guides/official-server.md lists: names that differ only in case,
relations to what does not exist, existing names with new observations, and repeats inside one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMES = ("Ada", "Böb", "東京", "Eve Ng", "C++", "Zoë's boat", "🐞 bug")
TYPES = ("person", "place", "Project")
TEXTS = ("likes tea", "Likes Tea", "sails", "lives in 東京", 'says "no"\nand leaves', "owns a <boat> & a cat")
RELATIONS = ("knows", "leads", "works_at")
QUERIES = ("", "tea", "TEA", "a", "東京", "person", "no such thing")
TOOLS = (
    "create_entities",
    "create_relations",
    "add_observations",
    "delete_entities",
    "delete_observations",
    "delete_relations",
    "read_graph",
    "search_nodes",
    "open_nodes",
)


class Calls:
    """Random calls, given the existing entities."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        self._there: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        while True:
            tool = self._one(TOOLS)
            yield tool, getattr(self, f"_{tool}")()

    def _create_entities(self) -> dict[str, Any]:
        new = self._some([name for name in NAMES if name not in self._there])
        self._there += new
        return {"entities": [self._entity(name) for name in new]}

    def _entity(self, name: str) -> dict[str, Any]:
        return {"name": name, "entityType": self._one(TYPES), "observations": self._some(TEXTS)}

    def _create_relations(self) -> dict[str, Any]:
        return {"relations": self._relations(self._there)}

    def _relations(self, names: Sequence[str]) -> list[dict[str, str]]:
        count = int(self._chance.integers(3)) if names else 0
        ends = {(self._one(names), self._one(names), self._one(RELATIONS)) for _ in range(count)}
        return [{"from": one, "to": other, "relationType": type_} for one, other, type_ in sorted(ends)]

    def _add_observations(self) -> dict[str, Any]:
        named = [self._one(self._there)] * int(self._chance.integers(1, 3)) if self._there else []
        texts = self._some(TEXTS)
        parts = [texts[: len(texts) // 2], texts[len(texts) // 2 :]]
        return {
            "observations": [
                {"entityName": name, "contents": part} for name, part in zip(named, parts, strict=False)
            ]
        }

    def _delete_entities(self) -> dict[str, Any]:
        gone = self._some(NAMES)[:1]
        self._there = [name for name in self._there if name not in gone]
        return {"entityNames": gone}

    def _delete_observations(self) -> dict[str, Any]:
        return {
            "deletions": [
                {"entityName": name, "observations": self._some(TEXTS)} for name in self._some(NAMES)
            ]
        }

    def _delete_relations(self) -> dict[str, Any]:
        return {"relations": self._relations(NAMES)}

    def _read_graph(self) -> dict[str, Any]:
        return {}

    def _search_nodes(self) -> dict[str, Any]:
        return {"query": self._one(QUERIES)}

    def _open_nodes(self) -> dict[str, Any]:
        return {"names": self._some(NAMES)}

    def _one(self, among: Sequence[str]) -> str:
        return among[int(self._chance.integers(len(among)))]

    def _some(self, among: Sequence[str]) -> list[str]:
        count = int(self._chance.integers(min(len(among), 3) + 1))
        return [among[int(place)] for place in self._chance.permutation(len(among))[:count]]
