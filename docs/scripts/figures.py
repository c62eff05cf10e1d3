"""Make the tables about ranking in docs/internals/benchmarks.md from the saved runs, for `cog`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from figure_runs import BEFORE, Plain, has_run, interval, markdown_table, points, read_run

_OURS = "recollect"
_PUBLISHED = ("limbic", "mnemosyne", "reverie", "cognis")
_MEASURE_TITLES = {"ndcg@10": "NDCG@10", "fraction@10": "R@10", "any@1": "hit@1"}


@dataclass(frozen=True, slots=True)
class DataSet:
    title: str
    about: str
    chosen_on: str
    """The questions used to choose parameters, in the first version and in this one."""


SETS = {
    "locomo-dev-jsonl": DataSet("LoCoMo", "two friends' chats, five conversations", "all; all"),
    "beam100k": DataSet("BEAM", "a user's long chats with an assistant", "nothing; all"),
    "realmem": DataSet(
        "RealMem", "a user's projects with an assistant, asked while the chat goes on", "nothing; all"
    ),
    "factcon": DataSet("FactConsolidation", "facts that later ones overwrite", "nothing; all"),
    "tsqa": DataSet("TSQA", "facts with spans of time", "nothing; all"),
    "hotpotqa": DataSet("HotpotQA", "passages, two of which answer together", "nothing; all"),
    "scifact": DataSet("SciFact", "abstracts of papers, BEIR's test split", "nothing; half a"),
    "xquad_r en": DataSet("XQuAD-R en", "English sentences", "nothing; half a"),
    "xquad_r es": DataSet("XQuAD-R es", "Spanish sentences", "nothing; half a"),
    "xquad_r es→en": DataSet("XQuAD-R es→en", "English sentences, asked in Spanish", "nothing; half a"),
    "xquad-de": DataSet("XQuAD de", "German paragraphs", "nothing; nothing"),
    "xquad-ru": DataSet("XQuAD ru", "Russian paragraphs", "nothing; nothing"),
    "xquad-zh": DataSet("XQuAD zh", "Chinese paragraphs", "nothing; nothing"),
    "lives choosing": DataSet("lives, choosing", "40 invented people", "nothing; all"),
    "lives judging": DataSet("lives, judging", "16 invented people, by other writers", "nothing; nothing"),
    "everyday choosing": DataSet("everyday, choosing", "ines, margaret and lena", "nothing; all"),
    "everyday judging": DataSet("everyday, judging", "tom, kenji and samir", "nothing; nothing"),
}


def title_of(data: str) -> str:
    return SETS[data].title if data in SETS else data


def data_sets() -> str:
    """Return each set, its size, and the questions that were used to choose parameters."""
    rows = [
        [
            each.title,
            each.about,
            f"{data['haystacks']:,} / {data['documents']:,} / {data['questions']:,}",
            each.chosen_on,
        ]
        for each, _, data in _sets()
    ]
    return markdown_table(("data", "content", "stores / memories / questions", "chosen on"), rows)


def summary() -> str:
    """Return the README's table: where the default is ahead, level and behind."""
    sets = {each.title: now["results"] for each, _, now in _sets()}
    names = {
        "friends' chats (LoCoMo)": "LoCoMo",
        "assistant chats (BEAM)": "BEAM",
        "overwritten facts (FactConsolidation)": "FactConsolidation",
        "dated facts (TSQA)": "TSQA",
        "two-step passages (HotpotQA)": "HotpotQA",
        "everyday notes": "everyday, judging",
    }
    rows = [[name, *_compared(sets[title], "ndcg@10")] for name, title in names.items()]
    everyday = sets["everyday, judging"]
    rows.append(["everyday: outdated note first (less is better)", *_compared(everyday, "stale_first")])
    absent = next(each for each in read_run("abstention")["data"] if each["data"] == "everyday judging")
    rows.append(["everyday: missing fact noticed", points(100 * absent["told_nothing"]["unsaid"]), "–", "–"])
    return markdown_table(("NDCG@10", "Recollect", "cosine", "rank fusion"), rows)


def _compared(results: Plain, measure: str) -> list[str]:
    return [points(results[name]["all"][measure]) for name in (_OURS, "vectors", "rrf")]


def main_table() -> str:
    """Return for each set the first version, this one, the baselines, and intervals of the differences."""
    rows = []
    for each, before, now in _sets():
        results = {name: groups["all"] for name, groups in now["results"].items() if "all" in groups}
        best = max(_PUBLISHED, key=lambda name: results[name]["ndcg@10"])
        half_b = now["results"][_OURS].get("half b", {})
        minus = now[f"{_OURS} minus"]["ndcg@10"]
        rows.append(
            [
                each.title,
                points(None if before is None else before["results"][_OURS]["all"]["ndcg@10"]),
                points(results[_OURS]["ndcg@10"]),
                points(half_b.get("ndcg@10")),
                *(points(results[name]["ndcg@10"]) for name in ("rrf", "vectors")),
                f"{points(results[best]['ndcg@10'])} ({best})",
                *(interval(minus[name]) for name in ("rrf", "vectors")),
                *(points(results[_OURS][measure]) for measure in ("fraction@10", "any@1")),
            ]
        )
    heads = ("first version", "now", "now, half b", "RRF", "cosine", "best of four", "− RRF", "− cosine")
    return markdown_table(("NDCG@10, %", *heads, "R@10", "hit@1"), rows)


def worse_table() -> str:
    """Return the sets on which this version is more than half a point below the first one."""
    both = [(each, before, now) for each, before, now in _sets() if before is not None and now is not before]
    if not both:
        return "\nNot measured yet with this version.\n"
    rows = []
    for each, before, now in both:
        for measure, title in _MEASURE_TITLES.items():
            first, second = (data["results"][_OURS]["all"][measure] for data in (before, now))
            if second < first - 0.5:
                rows.append([each.title, title, points(first), points(second), f"{second - first:+.1f}"])
    if not rows:
        return "\nNowhere, by more than half a point.\n"
    return markdown_table(("data", "measure", "before", "after", "points"), rows)


def stale_table() -> str:
    """Return how often an outdated text comes first, and how often the current one is above it."""
    rows = []
    for each, before, now in _sets():
        if not now["questions_with_stale"]:
            continue
        results = [now["results"][name]["all"] for name in (_OURS, "rrf", "vectors")]
        first = [before["results"][_OURS]["all"]] if before is not None else [{}]
        rows.append([f"{each.title} ({now['questions_with_stale']})"])
        for measure in ("stale_first", "current_above"):
            figures = [(of.get(measure)) for of in (*first, *results)]
            rows[-1].append(" / ".join(points(value) or "–" for value in figures))
    heads = ("stale first", "current above stale, both shown")
    return markdown_table(("first version / now / RRF / cosine, %", *heads), rows)


def without_limit() -> str:
    """Return hits, precision and recall of calls without a limit, and the CPU time of calls with limit 10."""
    rows = []
    for key, each in SETS.items():
        if _has("quality", key):
            run = read_run("quality")
            data, times = run["data"][key], run["milliseconds"][key]
            rows.append(
                [
                    each.title,
                    *(f"{value:.1f}" for value in data["without_limit"].values()),
                    f"{times[_OURS]:.1f}",
                    f"{times['rrf']:.1f}",
                ]
            )
    heads = ("hits", "precision, %", "recall, %", "ms", "ms, RRF")
    return markdown_table(("data", *heads), rows)


def _sets() -> Iterator[tuple[DataSet, Plain | None, Plain]]:
    """Yield each measured set, its run by the first version (or None), and its latest run."""
    for key, each in SETS.items():
        found = [
            read_run(name)["data"][key] if _has(name, key) else None
            for name in (f"quality{BEFORE}", "quality")
        ]
        before, after = found
        now = after or before
        if now is not None:
            yield each, before, now


def _has(name: str, data: str) -> bool:
    return has_run(name) and data in read_run(name)["data"]
