"""Usage, tuning and dreams in exports: complete in an empty store, as far as possible in others."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from transfer_world import engine_at, exported

from recollect.domain.changes import CreateToken
from recollect.dreams.knobs import Knobs
from recollect.transfer import ImportReport, import_file

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.domain.tables import Row, Table
    from recollect.engine import Engine

pytest_plugins = ["transfer_stores"]


def load(engine: Engine, text: str) -> ImportReport:
    report = import_file(engine, io.StringIO(text))
    assert (report.bad_lines, report.dangling) == ((), ())
    return report


def ask_and_use(engine: Engine, *queries: str) -> None:
    for query in queries:
        answer = engine.recall(query)
        if answer.hits:
            engine.feedback(answer.hits[0].memory.id, 1, answer)


def rows(engine: Engine, table: Table, *columns: str) -> list[Row]:
    with engine._services.store.read() as view:
        return view.rows(table, columns)


def use_counts(engine: Engine) -> dict[str, int]:
    """How often each text was used."""
    texts: dict[int, str] = dict(rows(engine, "memory", "id", "text"))
    return {texts[id_]: count for id_, count in rows(engine, "usage", "memory_id", "count")}


@pytest.fixture
def fill_with_use(mine: Engine) -> Engine:
    """Two notes that were used together, numbers that were set, and a dream."""
    mine.remember("green tea in the kitchen")
    mine.remember("the green kettle")
    ask_and_use(mine, "green tea", "green kettle")
    name, value = next(iter(mine.tuning.numbers("recollect").present.items()))
    mine.tuning.set({name: value * 0.9}, "recollect")
    mine.dream(knobs=Knobs(link_together=1, link_share=0), gate=False)
    return mine


def test_into_a_store_with_memories_learning_follows_them(fill_with_use: Engine, other: Engine) -> None:
    other.remember("something else altogether")
    ask_and_use(other, "something else")
    text = exported(fill_with_use, learning=True)

    report = load(other, text)

    # Three pages of the file: usage and recalls follow under other ids, answers and dreams cannot.
    assert use_counts(other) == {**use_counts(fill_with_use), "something else altogether": 1}
    [(first, second, count)] = rows(fill_with_use, "cooccurrence", "first_id", "second_id", "count")
    assert rows(other, "cooccurrence", "first_id", "second_id", "count") == [(first + 1, second + 1, count)]
    assert len(rows(other, "recall", "id")) == 1 + len(rows(fill_with_use, "recall", "id"))
    assert len(rows(other, "answer_log", "id")) == 1
    assert rows(other, "dream", "id") == []
    assert rows(other, "tuning", "profile", "knobs") == rows(fill_with_use, "tuning", "profile", "knobs")
    reasons = [left.reason for left in report.learnt_left]
    assert sum("other ids" in reason for reason in reasons) == 2
    assert sum("journal of a dream" in reason for reason in reasons) == 1
    assert report.learnt_left_count == 3
    before = exported(other, learning=True)
    again = load(other, text)
    assert not again.changed
    assert exported(other, learning=True) == before


def test_a_later_export_of_the_same_store_brings_what_is_new(fill_with_use: Engine, other: Engine) -> None:
    load(other, exported(fill_with_use, learning=True))
    fill_with_use.remember("white tea")
    ask_and_use(fill_with_use, "white tea")
    report = load(other, exported(fill_with_use, learning=True))
    # The note is new, with its usage, its recall, its answer with the feedback; what is known stays.
    assert (report.texts_created, report.learnt_left) == (1, ())
    assert rows(other, "answer_log", "handle", "query") == rows(
        fill_with_use, "answer_log", "handle", "query"
    )
    assert len(rows(other, "feedback", "id")) == len(rows(fill_with_use, "feedback", "id"))
    assert use_counts(other)["white tea"] == 1


def test_an_owners_export_holds_what_was_learnt_of_theirs_alone(fill_with_use: Engine) -> None:
    bob = fill_with_use.scoped("bob")
    bob.remember("red wine in the cellar")
    ask_and_use(bob, "red wine")
    own = exported(bob, scope_only=True, learning=True)
    assert '"record":"answer"' in own
    assert "red wine" in own
    assert "green" not in own
    assert "trial_seed" not in own
    assert '"record":"answer"' not in exported(bob, scope_only=True)


def test_no_export_holds_who_may_come_in_or_what_is_on_this_machine(
    fill_with_use: Engine, tmp_path: Path
) -> None:
    fill_with_use._services.store.apply(
        [CreateToken("laptop", "d" * 64, "admin", None)], at=fill_with_use._services.clock()
    )
    file = tmp_path / "official.jsonl"
    file.write_text('{"type":"entity","name":"Ada","entityType":"person","observations":[]}\n')
    import_file(fill_with_use, file)
    text = exported(fill_with_use, learning=True)
    assert "d" * 64 not in text
    assert str(tmp_path) not in text


_KILLED = """
import os, signal, sys
import recollect
from recollect.transfer import export_file
def killing(done, of):
    os.kill(os.getpid(), signal.SIGKILL)
with recollect.open(sys.argv[1], model="none") as memory:
    export_file(memory, sys.argv[2], format=sys.argv[3], overwrite=True, progress=killing)
"""


@pytest.mark.parametrize("format_", ["full", "markdown"])
def test_a_killed_export_leaves_nothing_under_its_name(tmp_path: Path, format_: str) -> None:
    with engine_at(tmp_path / "one.db") as one:
        one.remember("green tea")
    target = tmp_path / "out"
    command = [sys.executable, "-c", _KILLED, str(tmp_path / "one.db"), str(target), format_]
    ended = subprocess.run(command, capture_output=True, check=False, env={**os.environ})
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    assert not target.exists()
