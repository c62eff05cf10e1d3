"""Which turns of a long conversation each profile finds: evidence recall on LoCoMo.

    python benchmarks/quality/locomo.py --data locomo.json --json results.json

Every conversation is a store of its own, its sessions are sessions, and a photo's caption stands in the text,
as an importer would put it. A question is asked the day after the last session, and leaves no trace. Each
cut-off is asked for as a caller would, `recall(limit=k)`, since a profile may gather less, or weigh
otherwise, for fewer hits; NDCG and MRR are those of ten. Questions of category 5 have no answer, and are
left out. The file is not ours: results hold figures alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from recollect.embedders.choose import embedder_named
from recollect.engine.engine import Engine
from recollect.engine.parts import Parts
from recollect.engine.signals import Signals
from recollect.extractors.choose import extractor_named
from recollect.ports import Embedder, Vector, Vectors
from recollect.rank.finish import Cut, Order
from recollect.rank.fuse import Linear, Rrf
from recollect.rank.pipeline import ByMeaning, ByWords, Profile
from recollect.rank.plain import to_plain
from recollect.rank.profiles import DEFAULT, PROFILES, RECOLLECT
from recollect.rank.when import TemporalBlend
from recollect.records import Model, Scope
from recollect.stores.sqlite.store import SqliteStore

sys.path.append(str(Path(__file__).parents[1] / "speed"))

from facts import facts, write_json
from measures import RESAMPLES, all_of, any_of, fraction, intervals, ndcg, reciprocal_rank

SEED = 20_260_301
CUTS = (5, 10, 20)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
# A stray colon or zero, several ids in one entry, and ranges such as `D1:3-5` occur.
_TURN = re.compile(r"D:?(\d+):(\d+)(?:\s*[-–]\s*(?:D:?\d+:)?(\d+))?")
# Our profile without what it does with the time that a query speaks of.
UNTIMED = replace(
    RECOLLECT,
    name="untimed",
    about="our own, deaf to times",
    retrieve=tuple(replace(retriever, then=False) for retriever in RECOLLECT.retrieve),
    steps=tuple(step for step in RECOLLECT.steps if not isinstance(step, TemporalBlend)),
)
# What everyone has.
PLAIN = tuple(
    Profile(name, about, retrieve, (*steps, Order(), Cut()))
    for name, about, retrieve, steps in (
        ("bm25", "stemmed words alone", (ByWords("stemmed", 1.0, 100),), (Linear(0.0, 1.0),)),
        ("vectors", "cosine alone", (ByMeaning(1.0, 100),), (Linear(1.0, 0.0),)),
        (
            "rrf",
            "rank fusion of both, k = 60",
            (ByMeaning(1.0, 100), ByWords("stemmed", 1.0, 100)),
            (Rrf(),),
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    sessions: tuple[tuple[str, tuple[Turn, ...]], ...]
    questions: tuple[Question, ...]
    unusable: int
    """Questions that point to no turn there is."""

    @property
    def asked_at(self) -> datetime:
        """The day after the last session, when its first turn was said."""
        return max(turns[0].at for _, turns in self.sessions) + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and what one profile found at each cut-off."""

    category: str
    timely: bool
    """It speaks of a time, as far as we can tell."""
    scores: Mapping[str, float]


def main() -> None:
    options = _options()
    path = Path(options.data)
    conversations = [_conversation(plain) for plain in json.loads(path.read_text(encoding="utf-8"))]
    profiles = [
        profile for profile in (*PROFILES.values(), UNTIMED, *PLAIN) if _wanted(profile, options.profiles)
    ]
    embedder = embedder_named(options.model)
    if embedder is None:
        sys.exit("Without a model there is no meaning to measure; name one with --model.")
    asked: dict[str, list[Asked]] = {profile.name: [] for profile in profiles}
    counts: Counter[str] = Counter()
    for number, conversation in enumerate(conversations, 1):
        print(f"conversation {number} of {len(conversations)}", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
            engine = _engine(Path(folder), conversation, Remembering(embedder), extract=options.extract)
            with engine:
                turn_of = _load(engine, conversation, extract=options.extract)
                counts += Counter(_counted(engine, conversation))
                for profile in profiles:
                    asked[profile.name] += _ask(engine, conversation, profile, turn_of)
    results = {name: _summary(rows) for name, rows in asked.items()}
    certain = _certain(asked)
    _show(results, certain, title=f"LoCoMo by turn, {'with' if options.extract else 'without'} drawn notes")
    if options.json:
        plain = {
            "facts": facts("onnxruntime", "rich") | {"model": embedder.model.name},
            "data": {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), **counts},
            "extract": options.extract,
            "profiles": {profile.name: to_plain(profile) for profile in profiles},
            "results": results,
            f"{DEFAULT}_minus": certain,
        }
        write_json(Path(options.json), plain)


# Reading


def _conversation(plain: Mapping[str, Any]) -> Conversation:
    talk = plain["conversation"]
    numbers = sorted(
        int(key.removeprefix("session_"))
        for key, turns in talk.items()
        if re.fullmatch(r"session_\d+", key) and turns
    )
    sessions = tuple((f"session {number}", tuple(_turns(talk, number))) for number in numbers)
    known = {turn.id for _, turns in sessions for turn in turns}
    questions = [
        Question(str(row["question"]), CATEGORIES[row["category"]], frozenset(_ids(row) & known))
        for row in plain["qa"]
        if row["category"] in CATEGORIES
    ]
    usable = tuple(question for question in questions if question.relevant)
    return Conversation(sessions, usable, len(questions) - len(usable))


def _turns(talk: Mapping[str, Any], number: int) -> Iterator[Turn]:
    began = _time(talk[f"session_{number}_date_time"])
    for minute, turn in enumerate(talk[f"session_{number}"]):
        caption = turn.get("blip_caption")
        text = f"{turn.get('text', '')} [shares a photo: {caption}]" if caption else turn["text"]
        yield Turn(turn["dia_id"], turn["speaker"], text.strip(), began + timedelta(minutes=minute))


def _time(written: str) -> datetime:
    """As `1:56 pm on 8 May, 2023`."""
    return datetime.strptime(written, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _ids(row: Mapping[str, Any]) -> set[str]:
    """The turns that an answer rests on, however they are written."""
    return {
        f"D{int(session)}:{turn}"
        for entry in row.get("evidence") or ()
        for session, first, last in _TURN.findall(str(entry))
        for turn in range(int(first), int(last or first) + 1)
    }


# Asking


class Remembering:
    """An embedder that embeds a query once, however many profiles ask it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    @property
    def model(self) -> Model:
        return self._embedder.model

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.documents(texts)

    def query(self, text: str) -> Vector:
        if text not in self._known:
            self._known[text] = self._embedder.query(text)
        return self._known[text]


def _engine(folder: Path, conversation: Conversation, embedder: Embedder, *, extract: bool) -> Engine:
    store = SqliteStore(folder / "memory.db")
    parts = Parts(
        store=store,
        clock=lambda: conversation.asked_at,
        embedder_named=lambda _: embedder,
        preferred_model=embedder.model.name,
        scope=Scope(),
        signals=Signals(store, "bench"),
        extractor=partial(extractor_named, "rules" if extract else "none"),
    )
    return Engine(parts)


def _load(engine: Engine, conversation: Conversation, *, extract: bool) -> dict[int, str]:
    """Store every session; returns the turn of each memory, drawn notes included."""
    turn_of: dict[int, str] = {}
    for name, turns in conversation.sessions:
        messages = [{"speaker": turn.speaker, "content": turn.text, "at": turn.at} for turn in turns]
        told = engine.add_messages(name, messages, extract=extract)
        assert told.created == len(turns) == len(told.ids), "every turn is a memory of its own"
        assert told.note is None, told.note
        turn_of |= zip(told.ids, (turn.id for turn in turns), strict=True)
        for note in told.notes:
            memory = engine.get(note.id)
            if memory is not None and memory.drawn_from is not None:
                turn_of[note.id] = turn_of[memory.drawn_from]
    return turn_of


def _counted(engine: Engine, conversation: Conversation) -> dict[str, int]:
    counts = engine.counts()
    assert counts.due == 0, "every text has its vector"
    return {
        "conversations": 1,
        "sessions": len(conversation.sessions),
        "turns": counts.messages,
        "notes": counts.notes,
        "questions": len(conversation.questions),
        "questions_without_evidence": conversation.unusable,
    }


def _ask(
    engine: Engine, conversation: Conversation, profile: Profile, turn_of: Mapping[int, str]
) -> Iterator[Asked]:
    for question in conversation.questions:
        found: dict[int, list[str]] = {}
        for cut in CUTS:
            answer = engine.recall(question.text, limit=cut, profile=profile, record=False)
            # A note counts as the message that it was drawn from; whichever comes first.
            found[cut] = list(dict.fromkeys(turn_of[hit.memory.id] for hit in answer.hits))
        yield Asked(question.category, answer.time is not None, _scores(found, question.relevant))


def _scores(found: Mapping[int, Sequence[str]], relevant: frozenset[str]) -> dict[str, float]:
    measures: Mapping[str, Callable[[Sequence[str], frozenset[str], int], float]] = {
        "fraction": fraction,
        "any": any_of,
        "all": all_of,
    }
    at = {f"{name}@{k}": measure(found[k], relevant, k) for name, measure in measures.items() for k in CUTS}
    return {
        **at,
        "ndcg@10": ndcg(found[10], relevant, 10),
        "mrr@10": reciprocal_rank(found[10], relevant, 10),
    }


# Telling


def _summary(rows: Sequence[Asked]) -> dict[str, Any]:
    groups = {
        "all": rows,
        **{name: [row for row in rows if row.category == name] for name in CATEGORIES.values()},
        "speaks of a time": [row for row in rows if row.timely],
    }
    return {name: _means(group) for name, group in groups.items() if group}


def _means(rows: Sequence[Asked]) -> dict[str, float]:
    names = rows[0].scores
    means = {name: round(100 * statistics.fmean(row.scores[name] for row in rows), 2) for name in names}
    return {"questions": len(rows), **means}


def _certain(asked: Mapping[str, Sequence[Asked]]) -> dict[str, Any]:
    """By how much our profile is ahead of each other one, with the bounds of 95 %."""
    if DEFAULT not in asked:
        return {}
    return {"resamples": RESAMPLES, "seed": SEED} | {
        measure: {
            name: dict(zip(("mean", "low", "high"), (round(100 * value, 2) for value in values), strict=True))
            for name, values in intervals(
                _column(asked[DEFAULT], measure),
                {name: _column(rows, measure) for name, rows in asked.items() if name != DEFAULT},
                SEED,
            ).items()
        }
        for measure in ("fraction@10", "ndcg@10")
    }


def _column(rows: Sequence[Asked], measure: str) -> list[float]:
    return [row.scores[measure] for row in rows]


def _show(results: Mapping[str, Any], certain: Mapping[str, Any], title: str) -> None:
    console = Console(width=150)
    measures = [name for name in next(iter(results.values()))["all"] if name != "questions"]
    whole = Table(title=f"{title}: all questions, %")
    for column in ("profile", *measures):
        whole.add_column(column, justify="left" if column == "profile" else "right")
    for name, groups in results.items():
        whole.add_row(name, *(f"{groups['all'][measure]:.1f}" for measure in measures))
    console.print(whole)
    groups = next(iter(results.values()))
    parts = Table(title="fraction@10 (NDCG@10) by category, %")
    parts.add_column("profile")
    for group, means in groups.items():
        parts.add_column(f"{group}\n{means['questions']} questions", justify="right")
    for name, found in results.items():
        cells = (f"{found[group]['fraction@10']:.1f} ({found[group]['ndcg@10']:.1f})" for group in groups)
        parts.add_row(name, *cells)
    console.print(parts)
    if not certain:
        return
    ahead = Table(title=f"{DEFAULT} minus the other, points, with 95 % of paired resamples")
    for column in ("profile", "fraction@10", "ndcg@10"):
        ahead.add_column(column)
    for name in certain["ndcg@10"]:
        values = (certain[measure][name] for measure in ("fraction@10", "ndcg@10"))
        ahead.add_row(name, *(f"{v['mean']:+.1f}  [{v['low']:+.1f}, {v['high']:+.1f}]" for v in values))
    console.print(ahead)


def _wanted(profile: Profile, names: str | None) -> bool:
    return names is None or profile.name in names.split(",")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", required=True, help="LoCoMo's file: a list of conversations with questions")
    parser.add_argument("--model", default="arctic-s", help="what embeds")
    parser.add_argument("--extract", action="store_true", help="also draw notes out of the turns, by rules")
    parser.add_argument("--profiles", help="only these, by name, with commas")
    parser.add_argument("--json", help="where to write the results")
    return parser.parse_args()


if __name__ == "__main__":
    main()
