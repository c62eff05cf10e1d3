"""Finding the entities that a text names, compared with a regular expression, Aho-Corasick and FlashText.

Recollect queries an index on the disk, inside the write. The others hold every name in memory, in every
process, and only their search is timed; their cost of a new name and of a start is listed separately. All
fold case, match whole words and prefer the longest name, so their answers can be compared.

    python benchmarks/speed/linking.py --sizes 1k,10k,100k --json results.json

Peers, each skipped where it is missing: pip install pyahocorasick flashtext.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from facts import facts, write_json
from sentences import Sentences
from timing import Time, number, tell, timed

import recollect
from recollect.write import word_index as mentions

TEXTS = 1_000
SINGLES = 100
NEW_NAMES = 20
BATCH = 1_000
# A slow peer is measured for this many seconds instead of on all texts.
SECONDS = 10.0
_WORD = re.compile(r"\w+")

Find = Callable[[str], set[str]]
"""The names in a text, folded."""


class Spent:
    """CPU seconds by what they were spent on. What a watched call spends in another is the other's alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner: list[float] = []

    @contextmanager
    def watching(self, owner: object, name: str, what: str) -> Iterator[None]:
        """Time the calls of `owner.name` inside the block."""
        function: Callable[..., Any] = getattr(owner, name)

        def watched(*given: Any, **named: Any) -> Any:
            self._inner.append(0.0)
            start = time.process_time()
            try:
                return function(*given, **named)
            finally:
                whole = time.process_time() - start
                self.seconds[what] += whole - self._inner.pop()
                if self._inner:
                    self._inner[-1] += whole

        setattr(owner, name, watched)
        try:
            yield
        finally:
            setattr(owner, name, function)

    def each(self, count: int, whole: Time) -> dict[str, float]:
        """Milliseconds of CPU for one of so many, and what is left of the whole."""
        rest = whole.cpu - sum(self.seconds.values())
        return {
            what: round(seconds * 1000 / count, 4)
            for what, seconds in (*sorted(self.seconds.items()), ("rest", rest))
        }


def linking(sizes: str, folder: Path) -> Iterator[dict[str, Any]]:
    rows = []
    for size in map(number, sizes.split(",")):
        tell(f"linking: {size:,} names")
        row = _linked(size, folder)
        rows.append(row)
        yield row
    if len(rows) > 1:
        yield _growth(rows)


def _linked(size: int, folder: Path) -> dict[str, Any]:
    made = Sentences()
    names = made.names(size + NEW_NAMES)
    names, new = names[:size], names[size:]
    texts, truth = made.mentioning(names, TEXTS)
    folded = [{name.lower() for name in mentioned} for mentioned in truth]
    found, ours = _ours(folder / f"names-{size}.db", names, new, texts)
    row: dict[str, Any] = {
        "what": "entity linking",
        "names": size,
        "texts": TEXTS,
        "recollect": ours | _quality(found, folded),
    }
    for name, build in (("regex", _regex), ("pyahocorasick", _aho_corasick), ("flashtext", _flashtext)):
        tell(f"linking: {size:,} names, {name}")
        row[name] = _peer(build, names, new, texts, found, folded)
    return row


def _ours(
    path: Path, names: Sequence[str], new: Sequence[str], texts: Sequence[str]
) -> tuple[list[set[str]], dict[str, Any]]:
    """Return the names found, and the time of linking within bulk and single writes."""
    with recollect.open(path, model="none") as engine:
        for start in range(0, len(names), BATCH):
            engine.create_entities({"name": name} for name in names[start : start + BATCH])
        bulk, single, naming = Spent(), Spent(), Spent()
        with bulk.watching(mentions, "link_texts", "linking"), timed() as whole:
            batch = engine.remember_many(texts)
        again = [f"{text} Again." for text in texts[:SINGLES]]
        with single.watching(mentions, "link_texts", "linking"), timed() as one_by_one:
            for text in again:
                engine.remember(text)
        with naming.watching(mentions, "link_entities", "linking"), timed() as named:
            for name in new:
                engine.create_entities([{"name": name}])
    return [{name.lower() for name in note.mentions} for note in batch.notes], {
        "us_per_text": round(bulk.seconds["linking"] * 1e6 / len(texts), 1),
        "us_per_text_singly": round(single.seconds["linking"] * 1e6 / SINGLES, 1),
        "of_a_bulk_write": round(bulk.seconds["linking"] / whole.cpu, 3),
        "of_a_single_write": round(single.seconds["linking"] / one_by_one.cpu, 3),
        "start_ms": 0.0,
        # All of a durable write, in which texts that were there before are searched for the name.
        "new_name_ms": round(named.cpu * 1000 / len(new), 3),
        "new_name_linking_ms": round(naming.seconds["linking"] * 1000 / len(new), 3),
    }


# Peers


def _peer(
    build: Callable[[Sequence[str]], tuple[Find, Callable[[str], object]]],
    names: Sequence[str],
    new: Sequence[str],
    texts: Sequence[str],
    ours: Sequence[set[str]],
    truth: Sequence[set[str]],
) -> dict[str, Any] | str:
    try:
        with timed() as start:
            find, add = build(names)
    except ModuleNotFoundError:
        return "not installed"
    answers: list[set[str]] = []
    until = time.perf_counter() + SECONDS
    with timed() as search:
        for text in texts:
            answers.append(find(text))
            if time.perf_counter() > until:
                break
    added = []
    until = time.perf_counter() + SECONDS
    for name in new:
        with timed() as one:
            add(name)
        added.append(one.cpu)
        if time.perf_counter() > until:
            break
    same = [one == other for one, other in zip(answers, ours, strict=False)]
    return {
        "us_per_text": round(search.cpu * 1e6 / len(answers), 1),
        "texts_tried": len(answers),
        "start_ms": round(start.cpu * 1000, 1),
        "new_name_ms": round(statistics.fmean(added) * 1000, 3),
        "same_as_recollect": round(statistics.fmean(same), 4),
        **_quality(answers, truth[: len(answers)]),
    }


def _regex(names: Sequence[str]) -> tuple[Find, Callable[[str], object]]:
    """One alternation of all the names, the longest first."""

    def compiled(known: Sequence[str]) -> re.Pattern[str]:
        longest_first = sorted((re.escape(name.lower()) for name in known), key=len, reverse=True)
        return re.compile(rf"\b(?:{'|'.join(longest_first)})\b")

    pattern, known = compiled(names), list(names)

    def find(text: str) -> set[str]:
        return set(pattern.findall(text.lower()))

    def add(name: str) -> object:
        re.purge()
        known.append(name)
        return compiled(known)

    return find, add


def _aho_corasick(names: Sequence[str]) -> tuple[Find, Callable[[str], object]]:
    """Finds all names in a text, drops those inside a word, and prefers the longest of overlapping ones."""
    ahocorasick = import_module("ahocorasick")
    automaton = ahocorasick.Automaton()
    for name in names:
        automaton.add_word(name.lower(), name.lower())
    automaton.make_automaton()

    def find(text: str) -> set[str]:
        folded = text.lower()
        starts, stops = set(), set()
        for word in _WORD.finditer(folded):
            starts.add(word.start())
            stops.add(word.end())
        spans = [
            (end + 1 - len(name), end + 1, name)
            for end, name in automaton.iter(folded)
            if end + 1 in stops and end + 1 - len(name) in starts
        ]
        taken: list[tuple[int, int, str]] = []
        for start, stop, name in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
            if all(stop <= other or after <= start for other, after, _ in taken):
                taken.append((start, stop, name))
        return {name for _, _, name in taken}

    def add(name: str) -> object:
        automaton.add_word(name.lower(), name.lower())
        return automaton.make_automaton()  # rebuilds everything

    return find, add


def _flashtext(names: Sequence[str]) -> tuple[Find, Callable[[str], object]]:
    known = import_module("flashtext").KeywordProcessor(case_sensitive=False)
    for name in names:
        known.add_keyword(name, name.lower())

    def find(text: str) -> set[str]:
        return set(known.extract_keywords(text))

    def add(name: str) -> object:
        return known.add_keyword(name, name.lower())

    return find, add


def _quality(found: Sequence[set[str]], truth: Sequence[set[str]]) -> dict[str, float]:
    """Return the recall and the precision of the names found, against those inserted into the texts.

    Some texts contain a generated name at random, which lowers `right` for all ways equally.
    """
    right = sum(len(one & other) for one, other in zip(found, truth, strict=True))
    return {
        "found": round(right / max(1, sum(map(len, truth))), 4),
        "right": round(right / max(1, sum(map(len, found))), 4),
    }


def _growth(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how many times longer a text takes with the most names than with the fewest."""
    first, last = rows[0], rows[-1]
    return {
        "what": "entity linking, growth of the time for a text",
        "names": last["names"],
        "times_the_names": round(last["names"] / first["names"], 1),
    } | {
        name: round(last[name]["us_per_text"] / first[name]["us_per_text"], 2)
        for name in ("recollect", "regex", "pyahocorasick", "flashtext")
        if isinstance(last[name], dict)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="1k,10k,100k", help="how many names")
    parser.add_argument("--json", help="where to write the results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        rows = list(linking(options.sizes, Path(folder)))
    print(json.dumps(rows, indent=1))
    if options.json:
        known = facts("pyahocorasick", "flashtext")
        write_json(Path(options.json), {"facts": known, "results": rows})


if __name__ == "__main__":
    main()
