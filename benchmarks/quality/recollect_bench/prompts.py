"""Measure `context`: it should be empty if no memory is relevant to a prompt, and helpful otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from recollect.domain.errors import InvalidInput
from recollect_bench.haystack_store import open_haystack
from recollect_bench.runs import Monitors

if TYPE_CHECKING:
    from recollect_bench.datasets import Dataset, Haystack
    from recollect_bench.models import Models

ALL = "all"


@dataclass(frozen=True, slots=True)
class PromptResult:
    """The memories that one prompt got."""

    store: str
    needs_memory: bool
    given: int
    """Memories in the context, each document once."""
    helpful: int
    """Number of given memories that help."""
    wanted: int
    """Memories that would help."""
    tokens: int


@dataclass(frozen=True, slots=True)
class PromptFigures:
    """Figures over several prompts. A share is None if it has no prompts."""

    needing_nothing: int
    silent: float | None
    """Share of prompts without a need that got nothing."""
    needing: int
    helped: float | None
    """Share of prompts with a need that got at least one helpful memory."""
    precision: float | None
    """Share of the given memories that help, over all prompts."""
    recall: float | None
    """Share of the helpful memories that were given, over all prompts."""
    tokens_per_helpful: float | None
    """Tokens of all contexts, by the number of memories in them that help."""

    @classmethod
    def of(cls, rows: Sequence[PromptResult]) -> PromptFigures:
        idle, needing = ([row for row in rows if row.needs_memory is needs] for needs in (False, True))
        helpful = sum(row.helpful for row in rows)
        return cls(
            len(idle),
            _share(sum(not row.given for row in idle), len(idle)),
            len(needing),
            _share(sum(row.helpful > 0 for row in needing), len(needing)),
            _share(helpful, sum(row.given for row in rows)),
            _share(helpful, sum(row.wanted for row in rows)),
            _share(sum(row.tokens for row in rows), helpful),
        )


def measure_prompts(
    datasets: Sequence[Dataset], models: Models, monitors: Monitors | None = None
) -> Mapping[str, Mapping[str, PromptFigures]]:
    """Return the figures by data set, for all its prompts and by store."""
    results = {}
    for dataset in datasets:
        rows = [
            row
            for haystack in dataset.haystacks
            if haystack.prompts
            for row in _results(haystack, models, monitors or Monitors())
        ]
        if rows:
            stores = dict.fromkeys(row.store for row in rows)
            results[dataset.name] = {ALL: PromptFigures.of(rows)} | {
                store: PromptFigures.of([row for row in rows if row.store == store]) for store in stores
            }
    if not results:
        raise InvalidInput("None of these folders has a prompts.jsonl, which says what would help with what.")
    return results


def prompts_json(results: Mapping[str, Mapping[str, PromptFigures]]) -> dict[str, Any]:
    return {
        name: {
            group: {key: _plain(value) for key, value in asdict(figures).items()}
            for group, figures in groups.items()
        }
        for name, groups in results.items()
    }


def _results(haystack: Haystack, models: Models, monitors: Monitors) -> list[PromptResult]:
    rows = []
    with open_haystack(haystack, models, progress=monitors.storing) as stored:
        stored.fill()
        for count, prompt in enumerate(haystack.prompts, start=1):
            stored.set_clock(prompt.at)
            context = stored.engine.context(prompt.text)
            ids = [item.id for item in context.memories if item.id is not None]
            memories = stored.engine.get_many(ids)
            given = stored.documents(memories[id_] for id_ in ids)
            helpful = stored.canonical(prompt.helpful)
            rows.append(
                PromptResult(
                    store=haystack.name,
                    needs_memory=prompt.needs_memory,
                    given=len(given),
                    helpful=len(helpful.intersection(given)),
                    wanted=len(helpful),
                    tokens=context.tokens,
                )
            )
            if monitors.asking is not None:
                monitors.asking(count, len(haystack.prompts))
    return rows


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _plain(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
