"""How good ranked lists are against what is relevant; the arithmetic is trec_eval's.

`fraction`, `any` and `all` are three meanings of "recall at k" that differ by ten points on the same run, so
all three are told: the share of the relevant among the first k, whether one is there, whether all are. NDCG
has gains of 1 and discounts of log2(place + 1), over the best that ten places allow. MRR is 1 over the place
of the first relevant one, 0 where none is among the first ten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from recollect.errors import RecollectError

CUTS = (1, 5, 10, 20)
SHALLOW, DEEP = 10, 20
"""The limits that are asked for: NDCG, MRR and cuts up to ten are of what a caller of ten sees."""
LIMITS = (SHALLOW, DEEP)
MEASURES = (*(f"{name}@{k}" for name in ("fraction", "any", "all") for k in CUTS), "ndcg@10", "mrr@10")
COMPARED = ("fraction@10", "ndcg@10")
"""What intervals are given for."""
Scores = dict[str, float]
Found = Mapping[int, Sequence[str]]
"""By limit: the ids that were found, best first, none twice."""


def library() -> Any:
    """pytrec_eval, which an extra installs."""
    try:
        return import_module("pytrec_eval")
    except ImportError as error:
        raise RecollectError(
            f"The benchmark's measures need pytrec_eval, which cannot be imported ({error}); "
            "run: pip install 'recollect-memory[bench]'"
        ) from error


def scores(found: Sequence[Found], relevant: Sequence[frozenset[str]]) -> list[Scores]:
    """Of each question, in order, every measure; each question has something relevant."""
    shallow = _measured([each[SHALLOW] for each in found], relevant)
    deep = _measured([each[DEEP] for each in found], relevant)
    return [_told(of_ten, of_twenty) for of_ten, of_twenty in zip(shallow, deep, strict=True)]


def _told(of_ten: Callable[[str], float], of_twenty: Callable[[str], float]) -> Scores:
    at: Scores = {}
    for k in CUTS:
        read = of_ten if k <= SHALLOW else of_twenty
        at |= {f"fraction@{k}": read(f"recall_{k}"), f"any@{k}": read(f"success_{k}")}
        at[f"all@{k}"] = float(read(f"recall_{k}") == 1)
    at |= {"ndcg@10": of_ten("ndcg_cut_10"), "mrr@10": of_ten("recip_rank")}
    return {name: at[name] for name in MEASURES}


def _measured(
    lists: Sequence[Sequence[str]], relevant: Sequence[frozenset[str]]
) -> list[Callable[[str], float]]:
    judged = {str(place): dict.fromkeys(sorted(ids), 1) for place, ids in enumerate(relevant)}
    cuts = ",".join(map(str, CUTS))
    wanted = {f"recall.{cuts}", f"success.{cuts}", "ndcg_cut.10", "recip_rank"}
    # It sorts by score and has rules of its own for ties, so places become scores that fall.
    given = {
        str(place): {id_: float(len(ids) - at) for at, id_ in enumerate(ids)}
        for place, ids in enumerate(lists)
    }
    found = library().RelevanceEvaluator(judged, wanted).evaluate(given)
    return [_reader(found.get(str(place), {})) for place in range(len(lists))]


def _reader(row: Mapping[str, float]) -> Callable[[str], float]:
    # Where nothing was found, it tells nothing, and each measure is 0.
    return lambda name: float(row.get(name, 0.0))
