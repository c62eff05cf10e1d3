"""Bulk loading of a store, importing the official server's file, and their size on disk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from by_hand import ByHand
from recalling import spent_embedding
from stand_in import opened, stand_in
from timing import Figures, Time, rate, tell, timed

from recollect.transfer import import_file
from stores import OBSERVATIONS, Filled

_BATCH = 1_000


def loading(store: Filled) -> Figures:
    """Return the time of filling the store in batches, each durable."""
    return {"part": "bulk", "way": "recollect"} | _known(store) | store.loading


def loaded_by_hand(store: Filled, path: Path) -> tuple[ByHand, Figures]:
    """Load the same texts and vectors into the hand-made store, with a transaction per batch."""
    tell(f"bulk: {store.world.size:,} by hand")
    hand, texts = ByHand(path), store.world.texts
    spent = Time()
    for start in range(0, len(texts), _BATCH):
        some = texts[start : start + _BATCH]
        vectors = stand_in().documents(some)
        with timed() as batch:
            hand.add(some, vectors)
        spent.cpu, spent.wall = spent.cpu + batch.cpu, spent.wall + batch.wall
    return hand, {"part": "bulk", "way": "by hand"} | _known(store) | rate(spent, len(texts))


def disk(store: Filled) -> Figures:
    """Return bytes per text of the whole folder, and without files that can be rebuilt."""
    sizes = {file.name: file.stat().st_size for file in store.folder.iterdir()}
    whole = sum(sizes.values())
    vectors = sum(size for name, size in sizes.items() if "-vectors" in name)
    return (
        {"part": "disk", "way": "recollect"}
        | _known(store)
        | {
            "bytes_each": round(whole / store.world.size),
            "bytes_each_without_cache": round((whole - vectors) / store.world.size),
            "files": sizes,
        }
    )


def disk_by_hand(store: Filled, path: Path) -> Figures:
    size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
    return {"part": "disk", "way": "by hand"} | _known(store) | {"bytes_each": round(size / store.world.size)}


def official_lines(store: Filled) -> list[Figures]:
    """Return the graph in the official server's format: a line for each entity and each relation."""
    made = store.world
    lines: list[Figures] = []
    for place, name in enumerate(made.names):
        seen = made.texts[OBSERVATIONS * place : OBSERVATIONS * (place + 1)]
        lines.append({"type": "entity", "name": name, "entityType": "thing", "observations": seen})
        if place % 2:
            ends = {"from": name, "to": made.names[place * 7919 % len(made.names)]}
            lines.append({"type": "relation", **ends, "relationType": "leads_to"})
    return lines


def importing(store: Filled, lines: Sequence[Figures]) -> Figures:
    folder = store.folder.parent
    path = folder / "official.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    tell(f"import: {len(lines):,} lines")
    with opened(folder / "imported.db") as engine:
        cpu, wall = spent_embedding()
        with timed() as whole:
            report = import_file(engine, path)
        assert report.lines == len(lines)
        cpu, wall = spent_embedding()[0] - cpu, spent_embedding()[1] - wall
    spent = Time(whole.cpu - cpu, whole.wall - wall)
    return {"part": "import", "way": "recollect"} | _known(store) | rate(spent, len(lines))


def importing_by_hand(store: Filled, lines: Sequence[Figures]) -> Figures:
    """Import into the hand-made store. Every name, observation and relation becomes a text."""
    hand, spent = ByHand(store.folder.parent / "imported-by-hand.db"), Time()
    for start in range(0, len(lines), _BATCH):
        texts = [text for line in lines[start : start + _BATCH] for text in _texts_of(line)]
        vectors = stand_in().documents(texts)
        with timed() as batch:
            hand.add(texts, vectors)
        spent.cpu, spent.wall = spent.cpu + batch.cpu, spent.wall + batch.wall
    hand.close()
    return {"part": "import", "way": "by hand"} | _known(store) | rate(spent, len(lines))


def _texts_of(line: Figures) -> list[str]:
    if line["type"] == "entity":
        return [line["name"], *line["observations"]]
    return [f"{line['from']} {line['relationType']} {line['to']}"]


def _known(store: Filled) -> Figures:
    return {"kind": store.world.kind, "size": store.world.size}
