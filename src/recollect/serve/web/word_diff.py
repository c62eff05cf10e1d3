"""What changed between two wordings, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
# Comparing takes the product of both lengths at worst; longer texts are compared line by line.
_MOST_PIECES = 2_000

DiffKind = Literal["same", "added", "removed"]


@dataclass(frozen=True, slots=True)
class DiffSpan:
    kind: DiffKind
    text: str


def word_diff(before: str, after: str) -> list[DiffSpan]:
    """The later wording with what it lost: the spans that are not removed give it exactly."""
    old, new = _pieces(before, after)
    if max(len(old), len(new)) > _MOST_PIECES:
        return [DiffSpan("removed", before), DiffSpan("added", after)]
    spans = groupby(_spans(old, new), key=lambda span: span.kind)
    joined = [DiffSpan(kind, "".join(span.text for span in those)) for kind, those in spans]
    return [span for span in joined if span.text]


def _pieces(before: str, after: str) -> tuple[Sequence[str], Sequence[str]]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) <= _MOST_PIECES:
        return old, new
    return before.splitlines(keepends=True), after.splitlines(keepends=True)


def _spans(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffSpan]:
    for tag, start, stop, new_start, new_stop in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            yield DiffSpan("same", "".join(old[start:stop]))
            continue
        yield DiffSpan("removed", "".join(old[start:stop]))
        yield DiffSpan("added", "".join(new[new_start:new_stop]))
