"""Any life with dreams in it: each dream can be taken back, and then only the life is left."""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.domain.errors import RecollectError
from recollect.domain.records import Scope
from recollect.dreams.knobs import Knobs
from recollect.engine import Engine
from recollect.models.hashing import HashingEmbedder
from recollect.search.recording import UsageRecorder
from recollect.services import Services
from recollect.stores.sqlite.store import SqliteStore
from recollect.transfer import export_file
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = HashingEmbedder(64)
# Some say the same, some nearly, some correct others.
TEXTS = (
    "Ada drinks tea in the garden",
    "Ada drinks the tea in the garden!",
    "ada drinks a tea in the garden",
    "in the garden Ada drinks tea",
    "Alice works at Google",
    "Alice works for Google",
    "Alice works at Microsoft",
    "the kettle is red",
)
KEEN = Knobs(prune_echo=0, prune_signal=5, prune_strength=1.1, link_together=1, link_share=0)
WARY = Knobs()

ids = st.integers(1, 8)
texts = st.sampled_from(TEXTS)
steps = st.one_of(
    st.tuples(st.just("remember"), texts),
    st.tuples(st.just("recall"), st.sampled_from(["tea", "Ada garden", "Alice", "kettle"])),
    st.tuples(st.just("rename"), ids, texts),
    st.tuples(st.just("mark"), ids, st.booleans()),
    st.tuples(st.just("forget"), ids),
    st.tuples(st.just("restore"), ids),
    st.tuples(st.just("correct"), ids, texts),
    st.tuples(st.just("observe"), texts),
    st.tuples(st.just("wait"), st.sampled_from([0.1, 1, 30, 400])),
    st.tuples(st.just("dream"), st.sampled_from([KEEN, WARY])),
    st.tuples(st.just("dream"), st.sampled_from([KEEN, WARY])),
    st.tuples(st.just("undo")),
    st.tuples(st.just("undo all")),
)


@dataclass
class Before:
    """The state before a dream, and the memories that the owner has touched since."""

    dream: int
    lines: dict[int, str]
    relations: list[str]
    spoken_for: tuple[tuple[int, int], ...]
    """Merged or corrected memories, each with its replacement."""
    touched: set[int] = field(default_factory=set)


class Life:
    """A store, its owner's hands, and what is known of each dream that was not undone."""

    def __init__(self, folder: Path) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)
        store = Repository(SqliteStore(folder / "memory.db"))
        signals = UsageRecorder(store, "test")
        services = Services(store, lambda: self.now, lambda _: MODEL, "hashing", Scope(), signals)
        self.engine = Engine(services)
        self.dreams: list[Before] = []
        self.engine.remember_many(TEXTS[:5])
        self.engine.create_entities([{"name": "Ada", "observations": ["likes tea"]}, "Bob", "Cleo"])
        self.engine.graph.create_relations([("Ada", "knows", "Bob"), ("Bob", "knows", "Cleo")])

    def do(self, step: tuple[object, ...]) -> None:
        self.now += timedelta(seconds=1)
        match step:
            case ("remember", str(text)):
                self.touch(self.engine.remember(text).id)
            case ("recall", str(query)):
                self.engine.recall(query, limit=4)
            case ("rename", int(id_), str(text)):
                self.hand(id_, lambda: self.engine.update(id_, text=text))
            case ("mark", int(id_), bool(pinned)):
                self.hand(id_, lambda: self.engine.update(id_, pinned=pinned))
            case ("forget", int(id_)):
                self.hand(id_, lambda: self.engine.forget([id_]))
            case ("restore", int(id_)):
                self.hand(id_, lambda: self.engine.restore(id_))
            case ("correct", int(id_), str(text)):
                with suppress(RecollectError):
                    done = self.engine.supersede(id_, text)
                    self.touch(done.by.id, *(each.id for each in done.retired))
            case ("observe", str(text)):
                with suppress(RecollectError):
                    ada = self.engine.graph.add_observations({"Ada": [text]}).entities[0]
                    self.touch(ada.id)
            case ("wait", float() | int() as days):
                self.now += timedelta(days=float(days))
            case ("dream", Knobs() as knobs):
                self.dream(knobs)
            case ("undo",):
                self.undo(1)
            case ("undo all",):
                self.undo(len(self.dreams))

    def hand(self, id_: int, work: Callable[[], object]) -> None:
        """Let the owner change a memory, if that is possible."""
        with suppress(RecollectError):
            work()
        self.touch(id_)

    def touch(self, *touched: int) -> None:
        for before in self.dreams:
            before.touched.update(touched)

    def exported_lines(self) -> tuple[dict[int, str], list[str]]:
        out = io.StringIO()
        export_file(self.engine, out, format="full", learning=False)
        rows = [(json.loads(line), line) for line in out.getvalue().splitlines()[1:]]
        memories = {row["id"]: line for row, line in rows if row["record"] == "memory"}
        return memories, [line for row, line in rows if row["record"] == "relation"]

    def dream(self, knobs: Knobs) -> None:
        lines, relations = self.exported_lines()
        done = self.engine.dream(knobs=knobs, gate=False)
        after, _ = self.exported_lines()
        # No memory is destroyed or created.
        assert after.keys() == lines.keys()
        if done.id is not None:
            spoken_for = (*done.report.merged, *done.report.corrected)
            self.dreams.append(Before(done.id, lines, relations, spoken_for))
        # There was no concurrent change, so nothing was left out.
        assert done.left == ()
        again = self.engine.dream(knobs=knobs, gate=False)
        assert again.id is None, again.report

    def undo(self, count: int) -> None:
        if not self.dreams or not count:
            return
        before = self.dreams[-count]
        undone = self.engine.dreams.undo(before.dream, later=True)
        assert undone.ids == tuple(each.dream for each in reversed(self.dreams[-count:]))
        # A memory whose replacement was touched since may stay retired.
        touched = set(before.touched)
        for each in self.dreams[-count:]:
            touched |= {gone for gone, by in each.spoken_for if by in before.touched}
        del self.dreams[-count:]
        lines, relations = self.exported_lines()
        assert set(undone.left) <= touched
        for id_ in before.lines.keys() - touched:
            assert lines[id_] == before.lines[id_]
        if not before.touched:
            assert relations == before.relations


@settings(
    max_examples=tries(15), derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.lists(steps, min_size=6, max_size=18))
def test_every_dream_of_any_life_can_be_taken_back(story: list[tuple[object, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        life = Life(Path(folder))
        with life.engine:
            for step in story:
                life.do(step)
            life.undo(len(life.dreams))
            assert list(life.engine.upkeep.verify()) == []
