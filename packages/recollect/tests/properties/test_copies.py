"""A copy of a store, in a store of whatever kind, holds the same rows and gives the same answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing
from datetime import datetime, timedelta
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis_profiles import tries
from lives import ME, OTHERS, START, Act, Ask, Life, asks, lives

from recollect.bootstrap import copy
from recollect.domain.errors import Conflict, InvalidInput, StoreDamaged, StoreUnavailable
from recollect.domain.records import Scope
from recollect.domain.tables import COPY_MARK, OWN_SETTINGS, TABLES, Equals
from recollect.dreams.knobs import Knobs
from recollect.engine import Engine
from recollect.models.hashing import HashingEmbedder
from recollect.ranking.profiles import PROFILES
from recollect.search.recording import UsageRecorder
from recollect.services import Services
from recollect.stores.sqlite.store import SqliteStore
from recollect.stores.url import parse_store_url
from recollect.transfer import copying
from recollect.transfer.copying import COPIED, copy_store
from recollect.write.repository import Repository
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postgres_stores import PostgresStores

    from recollect.domain.tables import Row, Table
    from recollect.stores.port import Progress, Store

MODEL = HashingEmbedder(32)
OTHER = OTHERS[0]
KEEN = Knobs(prune_echo=0, prune_signal=5, prune_strength=1.1, link_together=1, link_share=0)
WORLD = (
    Act("entity", ("Ada", ["Ada works at Google", "Ada works at Apple"])),
    Act("entity", ("Bob", ["likes green tea"])),
    Act("relate", ("Ada", "Bob")),
    Act("note", ("Ada works at Google", ["work"], START - timedelta(days=30))),
    Act("note", ("Ada is working at Google", [], None)),
    Act("message", ("today", "Ada", "green tea and a pot")),
    Act("update", (2, "Ada works at Apple")),
    Act("correct", (3, "Bob likes green tea")),
    Act("keyed", ("the pot of Ada",)),
    Act("recall", ("green tea",)),
    Act("recall", ("Ada works",)),
    Act("open", ("Ada",)),
    Act("forget", (4,)),
    Act("restore", (4,)),
)


def engine_on(store: Repository, scope: Scope, now: datetime) -> Engine:
    return Engine(
        Services(store, lambda: now, lambda _: MODEL, "hashing", scope, UsageRecorder(store, "today"))
    )


def live(store: Repository, life: list[tuple[Scope, Act]]) -> datetime:
    now = START
    for scope, act in life:
        engine = engine_on(store, scope, now)
        Life(engine).live(act)
        engine._services.usage.close()
        now += timedelta(hours=1)
    return now


def fill(path: Path) -> None:
    """A store of two scopes that take turns, with something in every table."""
    store = Repository(SqliteStore(path))
    now = live(store, [(scope, act) for act in WORLD for scope in (ME, OTHER)])
    for scope in (ME, OTHER):
        engine = engine_on(store, scope, now)
        engine.remember("a long text goes to the index at once " * 200)
        # The last one that was numbered is destroyed: its number must not be given again.
        gone = engine.remember("never to be read")
        engine.forget([gone.id])
        engine.purge(now + timedelta(days=1))
        answer = engine.recall("green tea")
        engine._services.usage.settle(None)
        engine.feedback(answer.hits[0].memory.id, 1, answer)
        engine.dream(knobs=KEEN, gate=False)
        engine._services.usage.close()
    store.store.transact(_put_the_rest)
    store.close()


def _put_the_rest(rows: Any) -> None:
    """Write rows that only large stores and rare commands have, and pointers to later rows."""
    scopes = [id_ for (id_,) in rows.rows("scope", ("id",))]
    model = rows.rows("model", ("id",))[0][0]
    passage, *_ = rows.rows("passage", ("id",))[0]
    memories = [id_ for (id_,) in rows.rows("memory", ("id",), (Equals("scope_id", scopes[0]),))]
    rows.put("rotation", [{"model_id": model, "packed": bytes(range(256)) * 8}])
    rows.put("passage_tokens", [{"passage_id": passage, "model_id": model, "signs": b"\0\xff"}])
    rows.put("pending_vector", [{"passage_id": passage}])
    rows.put("setting", [{"name": "imported", "value": "ünïcode 東京"}])
    rows.put("lease", [{"name": "dream", "holder": "somebody", "until": 1}])
    calibration = {"model": "m", "at": 1, "memories": 2, "value": "{}"}
    tuned = {"profile": "default", "at": 1, "knobs": "{}", "why": "set", "report": "{}"}
    rows.put("calibration", [{"scope_id": scope, **calibration} for scope in scopes])
    rows.put("tuning", [{"scope_id": scope, **tuned} for scope in scopes])
    rows.put("link", [{"first_id": memories[0], "second_id": memories[-1], "weight": 3}])
    rows.patch("memory", (Equals("id", memories[0]),), {"similar_to": memories[-1], "similarity": 0.1 + 0.2})
    seen = [id_ for (id_,) in rows.rows("observation", ("id",), (Equals("memory_id", memories[0]),))]
    rows.patch("observation", (Equals("id", seen[0]),), {"superseded_by": seen[-1], "similar_to": seen[-1]})


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("copies") / "memory.db"
    fill(path)
    return path


@pytest.fixture
def small_batches() -> Iterator[None]:
    """So that rows point at others that come in a later batch."""
    with patch.object(copying, "_FIRST_ROWS", 5), patch.object(copying, "_MOST_ROWS", 10):
        yield


def opened(place: str | Path, *, copying: bool = False) -> Store:
    if isinstance(place, Path):
        return SqliteStore(place, copying=copying)
    return PostgresStore(parse_store_url(place), copying=copying)


def contents(store: Store, columns: dict[Table, list[str]]) -> dict[Table, list[Row]]:
    """All rows by their keys, but for what is the store's own."""
    with store.read() as snapshot:
        found = {table: snapshot.rows(table, columns[table]) for table in COPIED}
    found["setting"] = [row for row in found["setting"] if row[0] not in OWN_SETTINGS]
    return found


def columns_of(store: Store) -> dict[Table, list[str]]:
    assert isinstance(store, SqliteStore)
    asked = "SELECT name FROM pragma_table_xinfo(?)"
    with store.read() as snapshot:
        return {table: [name for (name,) in snapshot.connection.execute(asked, (table,))] for table in TABLES}


def test_every_row_comes_along_from_store_to_store(
    filled: Path, tmp_path: Path, postgres: PostgresStores, small_batches: None
) -> None:
    places: list[str | Path] = [filled, postgres.database(), tmp_path / "a.db", tmp_path / "b.db"]
    places += [postgres.database(), f"{postgres.database()}?schema=other"]
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(opened(place))) for place in places]
        columns = columns_of(stores[0])
        expected = contents(stores[0], columns)
        assert [table for table, rows in expected.items() if not rows] == []
        for source, target in pairwise(stores):
            report = copy_store(source, target)
            assert contents(target, columns) == expected
            assert report.rows == sum(map(len, expected.values()))
            assert [each.rows for each in report.tables] == [len(expected[table]) for table in COPIED]
            assert (report.resumed, report.started_over) == (0, False)
        for store in stores:
            assert vectors_behind(store) == 0
        # Leases are of who works now.
        with stores[1].read() as snapshot:
            assert snapshot.rows("lease", ("name",)) == []
        ids = {store_id(store) for store in stores}
        assert len(ids) == len(stores)


def vectors_behind(store: Store) -> int:
    """Vectors that caches would not learn of, since the server's note of the newest is older."""
    if not isinstance(store, PostgresStore):
        return 0
    with store.read() as snapshot:
        schema = snapshot.schema
        ((count,),) = snapshot.ask(
            f"SELECT count(*) FROM {schema}.vector AS v JOIN {schema}.scope AS s ON s.id = v.scope_id "
            "WHERE v.id > s.last_vector"
        )
    return int(count)


def store_id(store: Store) -> str:
    with store.read() as snapshot:
        ((value,),) = snapshot.rows("setting", ("value",), (Equals("name", "store_id"),))
    return str(value)


def test_no_number_is_given_again_in_a_copy(filled: Path, tmp_path: Path, postgres: PostgresStores) -> None:
    places: list[str | Path] = [tmp_path / "source.db", postgres.database(), tmp_path / "back.db"]
    for source, target in pairwise([filled, *places]):
        copy(str(source), str(target))
    given = []
    for place in places:
        store = Repository(opened(place))
        engine = engine_on(store, ME, START + timedelta(days=9))
        with store.read() as view:
            highest = max(id_ for (id_,) in view.rows("memory", ("id",)))
        note = engine.remember("the first after the copy")
        given.append(note.id)
        engine.close()
    assert given == [given[0]] * len(places)
    assert given[0] > highest + 1


@settings(
    max_examples=tries(6),
    # Each try copies twice: to look for the shortest failing story would take many minutes.
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(life=lives, asked=asks)
def test_copies_give_the_same_answers(
    postgres: PostgresStores, life: list[tuple[bool, Act]], asked: Ask
) -> None:
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder, ExitStack() as stack:
        places: list[str | Path] = [Path(folder) / "memory.db", postgres.database(), Path(folder) / "back.db"]
        stores = [Repository(stack.enter_context(closing(opened(place)))) for place in places]
        now = live(stores[0], [(ME if is_mine else OTHER, act) for is_mine, act in life])
        dreamer = engine_on(stores[0], ME, now)
        dreamer.dream(knobs=KEEN, gate=False)
        for source, target in pairwise(stores):
            copy_store(source.store, target.store)
        told = [everything(store, now, asked) for store in stores]
        assert told[1] == told[0]
        assert told[2] == told[0]


def everything(store: Repository, now: datetime, asked: Ask) -> list[str]:
    """Each answer as it prints, ids and all."""
    said: list[object] = []
    past = now - timedelta(hours=5)
    for scope in (ME, OTHER):
        engine = engine_on(store, scope, now)
        for profile in PROFILES:
            for moment in (None, past):
                options = {**asked.options, "profile": profile, "as_of": moment}
                said.append(engine.search(asked.query, explain=True, **options))
                said.append(engine.context(asked.query, profile=profile, as_of=moment))
        said += [engine.why_not(asked.query, id_) for id_ in Life(engine).ids()[:2]]
        said += [engine.dreams.history(5), engine.sessions.list()]
        engine._services.usage.close()
    return list(map(repr, said))


# Stopped, changed, refused

_KILLED = """
import os, signal, sys
from recollect.bootstrap import copy
from recollect.transfer import copying
source, target, stage, count = *sys.argv[1:4], int(sys.argv[4])
copying._FIRST_ROWS, copying._MOST_ROWS = 5, 20
function = getattr(copying, stage)
calls = 0
def killing(*given):
    global calls
    calls += 1
    if calls == count:
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*given)
setattr(copying, stage, killing)
copy(source, target)
"""


def kill_copy(source: str | Path, target: str | Path, stage: str, count: int) -> None:
    """Run a copy in a process that dies at the `count`-th call of a function."""
    command = [sys.executable, "-c", _KILLED, str(source), str(target), stage, str(count)]
    ended = subprocess.run(command, capture_output=True, check=False, env={**os.environ})
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()


def rows_there(place: str | Path) -> int:
    with closing(opened(place, copying=True)) as store, store.read() as snapshot:
        counted = sum(snapshot.count(table)[None] for table in COPIED)
        own = [name for (name,) in snapshot.rows("setting", ("name",)) if name in {*OWN_SETTINGS, COPY_MARK}]
    return counted - len(own)


def assert_equal(one: str | Path, other: str | Path, columns: dict[Table, list[str]]) -> None:
    with closing(opened(one)) as mine, closing(opened(other)) as theirs:
        assert contents(mine, columns) == contents(theirs, columns)


def test_a_killed_copy_continues(filled: Path, tmp_path: Path, postgres: PostgresStores) -> None:
    with closing(SqliteStore(filled)) as store:
        columns = columns_of(store)
    on_server, back = postgres.database(), tmp_path / "back.db"
    # In the middle of a batch: its rows are written, its mark is not.
    kill_copy(filled, on_server, "_put_mark", 20)
    there = rows_there(on_server)
    assert there > 0
    with pytest.raises(
        StoreUnavailable, match=r"incomplete copy of another memory\. Run the same `recollect copy` again"
    ):
        opened(on_server)
    report = copy(str(filled), on_server)
    assert (report.resumed, report.started_over) == (there, False)
    assert_equal(filled, on_server, columns)
    # And where nothing is left but to compare.
    kill_copy(on_server, back, "_put_mark", 40)
    kill_copy(on_server, back, "_tables", 2)
    with pytest.raises(StoreUnavailable, match="incomplete copy"):
        opened(back)
    report = copy(on_server, str(back))
    assert report.resumed == report.rows
    assert_equal(filled, back, columns)


class Stopped(Exception):
    pass


def on_call(number: int, act: Callable[[], object]) -> Progress:
    """A progress function that acts at its `number`-th call."""
    calls = count(1)

    def progress(_: int, __: int | None) -> None:
        if next(calls) == number:
            act()

    return progress


def stopped_copy(source: Store, target: Store, after: int) -> None:
    def stop() -> None:
        raise Stopped

    with pytest.raises(Stopped):
        copy_store(source, target, copying=on_call(after, stop))


def changed_in_place(store: Store) -> None:
    """Change a row without adding one or using a new id."""

    def pin(rows: Any) -> None:
        rows.patch("memory", (Equals("id", rows.rows("memory", ("id",))[0][0]),), {"pinned": 1})

    store.transact(pin)


@pytest.mark.parametrize("to_server", [True, False])
def test_a_copy_of_a_source_that_changed_since_starts_over(
    filled: Path, tmp_path: Path, postgres: PostgresStores, small_batches: None, to_server: bool
) -> None:
    places: list[str | Path] = [tmp_path / "source.db", postgres.database()]
    source, target = places if to_server else reversed(places)
    copy(str(filled), str(source))
    with closing(opened(source)) as mine, closing(opened(target, copying=True)) as theirs:
        stopped_copy(mine, theirs, 30)
        before = store_id(theirs)
        changed_in_place(mine)
        report = copy_store(mine, theirs)
        assert (report.resumed, report.started_over) == (0, True)
        assert store_id(theirs) != before
        with closing(SqliteStore(filled)) as store:
            columns = columns_of(store)
        assert contents(theirs, columns) == contents(mine, columns)


def test_other_writers_to_an_unfinished_copy_are_noticed(
    filled: Path, tmp_path: Path, small_batches: None
) -> None:
    with closing(SqliteStore(filled)) as mine, closing(SqliteStore(tmp_path / "target.db")) as theirs:
        stopped_copy(mine, theirs, 30)
        with (
            closing(SqliteStore(tmp_path / "other.db")) as other,
            pytest.raises(Conflict, match="unfinished copy of another store"),
        ):
            copy_store(other, theirs)
        theirs.transact(lambda rows: rows.put("scope", [{"owner": "somebody", "agent": "else"}]))
        with pytest.raises(Conflict, match="another program has written to it"):
            copy_store(mine, theirs)
        with theirs.read() as snapshot:
            assert snapshot.rows("scope", ("agent",), (Equals("owner", "somebody"),)) == [("else",)]
    with closing(SqliteStore(filled)) as mine, closing(SqliteStore(tmp_path / "second.db")) as theirs:
        other_copy = on_call(3, lambda: copy_store(mine, theirs))
        with pytest.raises(Conflict, match="Another `recollect copy`"):
            copy_store(mine, theirs, copying=other_copy)


def test_a_copy_that_differs_stays_closed(filled: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    with closing(SqliteStore(filled)) as mine, closing(SqliteStore(target)) as theirs:
        pinned: list[bool] = []

        def pin(done: int, total: int | None) -> None:
            if done == total and not pinned:
                pinned.append(True)
                changed_in_place(theirs)

        with pytest.raises(StoreDamaged, match=r"differs from its source: memory \((\d+) rows and \1\)"):
            copy_store(mine, theirs, copying=pin)
    with pytest.raises(StoreUnavailable, match="incomplete copy"):
        SqliteStore(target)


def test_a_destination_that_holds_anything_is_refused(tmp_path: Path, postgres: PostgresStores) -> None:
    with closing(SqliteStore(tmp_path / "source.db")) as mine, closing(postgres.new()) as theirs:
        theirs.transact(lambda rows: rows.put("scope", [{"owner": "", "agent": ""}]))
        with pytest.raises(Conflict, match="not empty; it has rows of: scope 1"):
            copy_store(mine, theirs)
        with pytest.raises(InvalidInput, match="same store"):
            copy_store(theirs, theirs)
