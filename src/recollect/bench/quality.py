"""The quality benchmark whole: data sets in, a report out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from recollect.bench.asking import Watching, ask
from recollect.bench.measures import library
from recollect.bench.profiles import without_parts
from recollect.bench.report import Report, Result, result
from recollect.rank.pipeline import Profile
from recollect.rank.profiles import DEFAULT, PROFILES

if TYPE_CHECKING:
    from recollect.bench.haystacks import Dataset
    from recollect.ports import Embedder


def measure(
    datasets: Sequence[Dataset],
    profiles: Sequence[Profile],
    embedder: Embedder,
    *,
    baseline: str,
    ablate: bool = False,
    extract: bool = False,
    watching: Callable[[Dataset], Watching] | None = None,
    done: Callable[[Result], None] | None = None,
) -> Report:
    """Every profile on every data set; the baseline is one of them.

    With `ablate`, also the default profile with one part left out at a time; it joins where it is not named.
    """
    library()  # before minutes of work that it would be missed after
    by_name = {each.name: each for each in profiles}
    if ablate:
        by_name.setdefault(DEFAULT, PROFILES[DEFAULT])
    variants = without_parts(by_name[DEFAULT]) if ablate else ()
    results = []
    for dataset in datasets:
        told = watching(dataset) if watching is not None else Watching()
        answers = ask(dataset, (*by_name.values(), *variants), embedder, extract=extract, watching=told)
        results.append(result(answers, [each.name for each in variants], baseline, DEFAULT))
        if done is not None:
            done(results[-1])
    return Report(
        results=tuple(results),
        profiles=tuple(by_name.values()),
        variants=variants,
        baseline=baseline,
        chief=DEFAULT,
        model=embedder.model.name,
        extract=extract,
    )
