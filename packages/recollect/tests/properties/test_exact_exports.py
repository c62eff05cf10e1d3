"""A full export, imported into an empty store of whatever kind, gives the same rows, answers and export."""

from __future__ import annotations

import io
import tempfile
from contextlib import ExitStack, closing
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis_profiles import tries
from lives import ME, START, Act, Ask, asks, lives
from test_copies import KEEN, OTHER, columns_of, engine_on, everything, fill, live, opened

from recollect.domain.tables import TABLES
from recollect.transfer import ImportReport, export_file, import_file
from recollect.transfer.moved_rows import EXPORTED_SETTINGS
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from postgres_stores import PostgresStores

    from recollect.domain.tables import Table
    from recollect.stores.port import Store

# Tables that the file contains, tables that an import derives, and tables of one store only.
HELD: set[Table] = {
    "absence", "answer_log", "calibration", "cooccurrence", "dream", "feedback", "link", "memory",
    "observation", "recall", "recall_hit", "relation", "revision", "scope", "setting", "tag", "tuning",
    "usage", "usage_day",
}  # fmt: skip
MADE: set[Table] = {
    "document", "mention", "model", "passage", "passage_tokens", "pending_vector", "posting", "rotation",
    "term", "vector",
}  # fmt: skip
OF_ONE_STORE: set[Table] = {"receipt", "lease", "history_stamp"}


def exported(store: Repository) -> str:
    out = io.StringIO()
    engine = engine_on(store, ME, START)
    export_file(engine, out, format="full")
    engine._services.usage.close()
    return out.getvalue()


def imported(store: Repository, text: str) -> ImportReport:
    engine = engine_on(store, ME, START)
    report = import_file(engine, io.StringIO(text))
    engine._services.usage.close()
    return report


def exported_rows(store: Store, columns: dict[Table, list[str]]) -> dict[Table, list[Any]]:
    """All rows that the file holds; scopes by their names, since they are numbered as they come."""
    with store.read() as snapshot:
        names = {id_: named for id_, *named in snapshot.rows("scope", ("id", "owner", "agent"))}
        found: dict[Table, list[Any]] = {}
        for table in HELD - {"scope", "setting"}:
            wanted = [name for name in columns[table] if name != "text_length"]
            # No other row names the id of a revision.
            if table == "revision":
                wanted.remove("id")
            scope = wanted.index("scope_id") if "scope_id" in wanted else None
            rows = snapshot.rows(table, wanted)
            if scope is not None:
                rows = [(*row[:scope], names[row[scope]], *row[scope + 1 :]) for row in rows]
            found[table] = sorted(rows, key=repr)
        found["scope"] = sorted(snapshot.rows("scope", ("owner", "agent", "temper")))
        settings_ = snapshot.rows("setting", ("name", "value"))
        found["setting"] = [row for row in settings_ if row[0] in EXPORTED_SETTINGS or "dismissed" in row[0]]
    return found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exports") / "memory.db"
    fill(path)
    with closing(opened(path)) as store:
        engine = engine_on(Repository(store), ME, START + timedelta(days=9))
        name, value = next(iter(engine.tuning.numbers("recollect").present.items()))
        engine.tuning.set({name: value * 0.9}, "recollect")
        engine.recall("green tea")
        engine._services.usage.close()
        names = ('["dismissed", "me", "assistant", "older:1"]', "unnoted")
        settings_ = [{"name": name, "value": str(n)} for n, name in enumerate(names)]
        store.transact(lambda rows: rows.put("setting", settings_))
        store.transact(lambda rows: rows.patch("scope", (), {"temper": 0.1 + 0.2}))
    return path


def test_every_table_is_held_or_made_or_of_one_store_alone() -> None:
    assert set(TABLES) == HELD | MADE | OF_ONE_STORE


def test_every_row_comes_along_in_a_file(filled: Path, tmp_path: Path, postgres: PostgresStores) -> None:
    with ExitStack() as stack:
        places: list[str | Path] = [filled, postgres.database(), tmp_path / "back.db"]
        stores = [stack.enter_context(closing(opened(place))) for place in places]
        columns = columns_of(stores[0])
        expected = exported_rows(stores[0], columns)
        assert [table for table, rows in expected.items() if not rows] == []
        assert any(row[columns["answer_log"].index("version")] for row in expected["answer_log"])
        text = exported(Repository(stores[0]))
        for store in stores[1:]:
            report = imported(Repository(store), text)
            assert (report.bad_count, report.dangling_count, report.learnt_left_count) == (0, 0, 0)
            assert exported_rows(store, columns) == expected
            assert exported(Repository(store)) == text
        again = imported(Repository(stores[-1]), text)
        assert (again.changed, again.learnt_left_count) == (False, 0)
        assert exported(Repository(stores[-1])) == text


@settings(
    max_examples=tries(6),
    # Each try imports twice: to look for the shortest failing story would take many minutes.
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(life=lives, asked=asks)
def test_imports_give_the_same_answers_and_the_same_export(
    postgres: PostgresStores, life: list[tuple[bool, Act]], asked: Ask
) -> None:
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder, ExitStack() as stack:
        places: list[str | Path] = [Path(folder) / "memory.db", postgres.database(), Path(folder) / "back.db"]
        stores = [Repository(stack.enter_context(closing(opened(place)))) for place in places]
        now = live(stores[0], [(ME if is_mine else OTHER, act) for is_mine, act in life])
        dreamer = engine_on(stores[0], ME, now)
        dreamer.dream(knobs=KEEN, gate=False)
        dreamer._services.usage.close()
        text = exported(stores[0])
        for source, target in pairwise(stores):
            imported(target, exported(source))
            assert exported(target) == text
        told = [everything(store, now, asked) for store in stores]
        assert told[1] == told[0]
        assert told[2] == told[0]
