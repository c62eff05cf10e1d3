"""The tables of docs/internals/benchmarks.md about ranking, read by `cog` from what the benchmarks wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from figure_runs import BEFORE, Plain, has_run, interval, markdown_table, points, read_run, turned

_OURS = "recollect"
_PLAIN = f"{_OURS} (plain)"
_PUBLISHED = ("limbic", "mnemosyne", "reverie", "cognis")
_PART = f"{_OURS} − "
_RERANKED = f"{_OURS} + rerank"
_SPOKEN = {"ndcg@10": "NDCG@10", "fraction@10": "R@10", "any@1": "hit@1"}


@dataclass(frozen=True, slots=True)
class DataSet:
    title: str
    about: str
    chosen_on: str
    """What of it took part in choosing numbers: by the first version, and by this one."""


SETS = {
    "locomo-dev-jsonl": DataSet("LoCoMo", "two friends' chats, five conversations", "all; half a"),
    "beam100k": DataSet("BEAM", "a user's long chats with an assistant", "nothing; half a"),
    "realmem": DataSet(
        "RealMem", "a user's projects with an assistant, asked while the chat goes on", "nothing; half a"
    ),
    "factcon": DataSet("FactConsolidation", "facts that later ones overwrite", "nothing; half a"),
    "tsqa": DataSet("TSQA", "facts with spans of time", "nothing; half a"),
    "hotpotqa": DataSet("HotpotQA", "passages, two of which answer together", "nothing; half a"),
    "scifact": DataSet("SciFact", "abstracts of papers, BEIR's test split", "nothing; half a"),
    "xquad_r en": DataSet("XQuAD-R en", "English sentences", "nothing; half a"),
    "xquad_r es": DataSet("XQuAD-R es", "Spanish sentences", "nothing; half a"),
    "xquad_r es→en": DataSet("XQuAD-R es→en", "English sentences, asked in Spanish", "nothing; half a"),
    "xquad-de": DataSet("XQuAD de", "German paragraphs", "nothing; nothing"),
    "xquad-ru": DataSet("XQuAD ru", "Russian paragraphs", "nothing; nothing"),
    "xquad-zh": DataSet("XQuAD zh", "Chinese paragraphs", "nothing; nothing"),
    "everyday choosing": DataSet("everyday, choosing", "ines, margaret and lena", "nothing; all"),
    "everyday judging": DataSet("everyday, judging", "tom, kenji and samir", "nothing; nothing"),
}


def title_of(data: str) -> str:
    return SETS[data].title if data in SETS else data


def data_sets() -> str:
    """What there is to ask, and what of it took part in choosing numbers."""
    rows = [
        [
            each.title,
            each.about,
            f"{data['haystacks']:,} / {data['documents']:,} / {data['questions']:,}",
            *(
                f"{data[key]:,}" if data[key] else ""
                for key in ("questions_with_stale", "questions_without_answer")
            ),
            each.chosen_on,
        ]
        for each, _, data in _sets()
    ]
    heads = ("data", "what it is like", "stores / memories / questions", "with something stale")
    return markdown_table((*heads, "without answer", "chosen on: first version; this one"), rows)


def summary() -> str:
    """The table of the README: where the default is ahead, level and behind."""
    sets = {each.title: now["results"] for each, _, now in _sets()}
    everyday = sets["everyday, judging"]
    names = {
        "friends' chats (LoCoMo)": "LoCoMo",
        "assistant chats (BEAM)": "BEAM",
        "overwritten facts (FactConsolidation)": "FactConsolidation",
        "dated facts (TSQA)": "TSQA",
        "two-step passages (HotpotQA)": "HotpotQA",
        "everyday notes": "everyday, judging",
    }
    rows = [[name, *_compared(sets[title], "ndcg@10")] for name, title in names.items()]
    rows.append(["everyday: outdated note first (less is better)", *_compared(everyday, "stale_first")])
    absent = next(each for each in read_run("abstention")["data"] if each["data"] == "everyday judging")
    noticed = 100 * absent["told_nothing"]["unsaid"]
    rows.append(["everyday: missing fact noticed", points(noticed), "–", "–"])
    return markdown_table(("NDCG@10", "Recollect", "cosine", "rank fusion"), rows)


def _compared(results: Plain, measure: str) -> list[str]:
    return [points(results[name]["all"][measure]) for name in (_OURS, "vectors", "rrf")]


def before_and_after(measure: str, group: str = "all", model: str = "") -> str:
    """Set by set: the first version, this one, what everyone has, and how sure the differences are."""
    rows = []
    for each, before, now in _sets(model):
        results = now["results"]
        if group not in results[_OURS]:
            continue
        after = None if now is before else results[_OURS][group][measure]
        best = max(_PUBLISHED, key=lambda name: results[name][group][measure])
        minus = now[f"{_OURS} minus"] if group == "all" else now[f"{_OURS} minus, by half"][group[-1]]
        others = ("rrf", "vectors", best)
        rows.append(
            [
                each.title,
                points(None if before is None else before["results"][_OURS][group][measure]),
                points(after),
                *(points(results[name][group][measure]) for name in ("rrf", "vectors")),
                f"{points(results[best][group][measure])} ({best})",
                *(interval(minus[measure][name]) for name in others),
            ]
        )
    heads = (
        "before",
        "after",
        "RRF",
        "cosine",
        "best of the four",
        "− RRF",
        "− cosine",
        "− best of the four",
    )
    return markdown_table((f"{_SPOKEN[measure]}, %", *heads), rows)


def worse() -> str:
    """Where this version is below the first one, by more than half a point."""
    both = [(each, before, now) for each, before, now in _sets() if before is not None and now is not before]
    if not both:
        return "\nNot measured yet with this version.\n"
    rows = []
    for each, before, now in both:
        for measure, spoken in _SPOKEN.items():
            first, second = (data["results"][_OURS]["all"][measure] for data in (before, now))
            if second < first - 0.5:
                rows.append([each.title, spoken, points(first), points(second), f"{second - first:+.1f}"])
    if not rows:
        return "\nNowhere, by more than half a point.\n"
    return markdown_table(("data", "measure", "before", "after", "points"), rows)


def stale() -> str:
    """What is no longer true: how often it comes first, and what comes first where both are shown."""
    rows = []
    for each, before, now in _sets():
        if not now["questions_with_stale"]:
            continue
        best = max(_PUBLISHED, key=lambda name: now["results"][name]["all"]["ndcg@10"])
        first = None if before is None else before["results"][_OURS]["all"]
        after = {} if now is before else now["results"][_OURS]["all"]
        others = [now["results"][name]["all"] for name in ("rrf", "vectors", best)]
        rows.append([f"{each.title} ({now['questions_with_stale']})"])
        for measure in ("stale_first", "current_above", "both_shown"):
            figures = (
                (first or {}).get(measure),
                after.get(measure),
                *(other.get(measure) for other in others),
            )
            rows[-1].append(" / ".join(points(value) or "–" for value in figures))
    heads = ("stale first", "current above stale, both shown", "both shown")
    return markdown_table(("before / after / RRF / cosine / best of the four, %", *heads), rows)


def categories(data: str) -> str:
    """NDCG@10 and R@10 by category."""
    _, _, now = next(each for each in _sets() if each[0] is SETS[data])
    results = now["results"]
    groups = [group for group in results[_OURS] if group != "all" and not group.startswith("half ")]
    heads = [f"{group} ({results[_OURS][group]['questions']})" for group in groups]
    rows = [
        [
            name,
            *(f"{means[group]['ndcg@10']:.1f} / {means[group]['fraction@10']:.1f}" for group in groups),
        ]
        for name, means in results.items()
        if not name.startswith(_PART) and " + " not in name
    ]
    return markdown_table((f"{SETS[data].title}: NDCG@10 / R@10", *heads), rows)


def extraction() -> str:
    """What drawing notes out of messages does to each way of ranking."""
    names = ("rrf", "vectors", "bm25", *_PUBLISHED)
    rows = []
    for each, _, now in _sets():
        results = now["results"]
        if results[_OURS]["all"] == results[_PLAIN]["all"]:
            continue
        ours = " → ".join(points(results[name]["all"]["ndcg@10"]) for name in (_PLAIN, _OURS))
        cells = [
            " → ".join(points(results[row]["all"]["ndcg@10"]) for row in (name, f"{name} + extraction"))
            if f"{name} + extraction" in results
            else ""
            for name in names
        ]
        rows.append([each.title, ours, *cells])
    return markdown_table(("NDCG@10, messages alone → with notes", _OURS, *names), rows)


def without_limit() -> str:
    """What a caller gets who names no limit."""
    rows = []
    for each, before, now in _sets():
        both = [data["without_limit"] for data in (before, now) if data is not None]
        rows.append(
            [
                each.title,
                *(
                    " → ".join(f"{of[key]:.1f}" for of in both[: 1 if now is before else 2])
                    for key in both[0]
                ),
            ]
        )
    return markdown_table(("before → after", "hits", "precision, %", "recall, %"), rows)


def milliseconds() -> str:
    """The CPU time of a recall of ten, the query's embedding aside."""
    rows = []
    names = (_OURS, "rrf", "vectors", *_PUBLISHED)
    for key, each in SETS.items():
        runs = [read_run(name) for name in (f"quality{BEFORE}", "quality") if _has(name, key)]
        if runs:
            last = runs[-1]["milliseconds"][key]
            ours = " → ".join(f"{run['milliseconds'][key][_OURS]:.1f}" for run in runs)
            rows.append(
                [
                    each.title,
                    f"{_size(runs[-1], key):,.0f}",
                    ours,
                    *(f"{last[name]:.1f}" for name in names[1:]),
                ]
            )
    return markdown_table(("CPU ms of a recall", "memories a store", "before → after", *names[1:]), rows)


def parts(data: str) -> str:
    """What is lost where one part of our profile is left out, once that was measured."""
    if not has_run("parts"):
        return "\nNot measured yet with this version.\n"
    minus = read_run("parts")["data"][data][f"{_OURS} minus itself without a part"]
    measures = ("fraction@10", "ndcg@10")
    rows = [
        [name.removeprefix(_PART), *(interval(minus[measure][name]) for measure in measures)]
        for name in minus["ndcg@10"]
    ]
    return markdown_table(("left out", "costs R@10", "costs NDCG@10"), rows)


def reranking(*runs: str) -> str:
    """Our profile before and after its first places are read again, and what that costs."""
    measures = ("fraction@1", "fraction@5", "fraction@10", "ndcg@10")
    rows = []
    for run in map(read_run, runs):
        for name, data in run["data"].items():
            ours, again = (data["results"][each]["all"] for each in (_OURS, _RERANKED))
            minus = data[f"{_OURS} minus"]
            taken = run["milliseconds"][name]
            rows.append(
                [
                    f"{name} ({ours['questions']:,})",
                    *(f"{ours[measure]:.1f} → {again[measure]:.1f}" for measure in measures),
                    *(interval(turned(minus[each][_RERANKED])) for each in ("fraction@10", "ndcg@10")),
                    f"{taken[_OURS]:.0f} → {taken[_RERANKED]:.0f}",
                ]
            )
    return markdown_table(("data", *measures, "gains fraction@10", "gains NDCG@10", "ms"), rows)


def _sets(model: str = "") -> Iterator[tuple[DataSet, Plain | None, Plain]]:
    """Each set that was run with a model: by the first version, if it was, and by the latest there is."""
    suffix = f"-{model}" if model else ""
    for key, each in SETS.items():
        found = [
            read_run(name)["data"][key] if _has(name, key) else None
            for name in (f"quality{BEFORE}{suffix}", f"quality{suffix}")
        ]
        before, after = found
        now = after or before
        if now is not None:
            yield each, before, now


def _has(name: str, data: str) -> bool:
    return has_run(name) and data in read_run(name)["data"]


def _size(run: Plain, data: str) -> float:
    return float(run["data"][data]["documents"] / run["data"][data]["haystacks"])
