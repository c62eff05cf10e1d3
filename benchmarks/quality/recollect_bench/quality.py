"""The quality benchmark whole: data sets in, a report out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.rank.pipeline import Profile
from recollect.rank.profiles import DEFAULT, PROFILES
from recollect_bench.asking import Watching, ask
from recollect_bench.measures import library
from recollect_bench.profiles import Reranked, without_parts
from recollect_bench.report import Report, Result, result

if TYPE_CHECKING:
    from recollect.ports import Embedder, Reranker
    from recollect_bench.datasets import Dataset


def measure(
    datasets: Sequence[Dataset],
    profiles: Sequence[Profile],
    embedder: Embedder,
    *,
    baseline: str,
    ablate: bool = False,
    reranker: Reranker | None = None,
    extract: bool = False,
    watching: Callable[[Dataset], Watching] | None = None,
    done: Callable[[Result], None] | None = None,
) -> Report:
    """Every profile on every data set; the baseline is one of them.

    With `ablate`, also the default profile with one part left out at a time; with a re-ranker, also the
    default profile, its first places read again. It joins where it is not named.
    """
    library()  # before minutes of work that it would be missed after
    by_name = {each.name: each for each in profiles}
    if ablate or reranker is not None:
        by_name.setdefault(DEFAULT, PROFILES[DEFAULT])
    variants = without_parts(by_name[DEFAULT]) if ablate else ()
    reranked = None if reranker is None else Reranked(by_name[DEFAULT], reranker)
    if reranked is not None and reranked.name in by_name:
        raise InvalidInput(
            f"The re-ranked profile is told as {reranked.name!r}; rename the one of that name."
        )
    results = []
    for dataset in datasets:
        told = watching(dataset) if watching is not None else Watching()
        answers = ask(
            dataset,
            (*by_name.values(), *variants),
            embedder,
            reranked=reranked,
            extract=extract,
            watching=told,
        )
        results.append(result(answers, [each.name for each in variants], baseline, DEFAULT))
        if done is not None:
            done(results[-1])
    return Report(
        results=tuple(results),
        profiles=tuple(by_name.values()),
        variants=variants,
        reranked=reranked,
        baseline=baseline,
        chief=DEFAULT,
        model=embedder.model.name,
        extract=extract,
    )
