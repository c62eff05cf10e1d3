"""Purged texts leave nothing in the file."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from textwrap import dedent
from typing import TYPE_CHECKING

import apsw
import pytest
from conftest import FixedClock

import recollect
from recollect.write import word_index

if TYPE_CHECKING:
    from pathlib import Path

SECRETS = (b"hollyhock", b"HOLLYHOCK", b"Hollyhock")


def _lies_in(folder: Path) -> set[str]:
    """Return the files that contain a word of the secret, in any encoding."""
    return {
        path.name
        for path in folder.iterdir()
        if path.is_file() and any(secret in path.read_bytes() for secret in SECRETS)
    }


@pytest.mark.parametrize("unmerged", [256, 0])
def test_nothing_of_what_was_purged_is_left_in_the_files(
    tmp_path: Path, unmerged: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_index, "_MOST_UNMERGED", unmerged)
    clock = FixedClock()
    with recollect.open(tmp_path / "memory.db", model="hashing", clock=clock) as memory:
        kept = memory.remember("The kettle stands on the stove")
        secret = memory.remember("The password of the shed is Hollyhock")
        memory.recall("what is the hollyhock for?")
        memory.feedback([secret.id], 1.0)
        memory.update(secret.id, text="The password of the shed was HOLLYHOCK")
        memory._services.usage.settle(None)
        clock.tick(60)
        assert _lies_in(tmp_path)
        memory.forget([secret.id])
        clock.tick(60)
        assert memory.purge(clock() + timedelta(seconds=1)) == 1
        assert _lies_in(tmp_path) == set()
        assert [hit.memory.id for hit in memory.recall("kettle", record=False).hits] == [kept.id]
        assert list(memory._services.store.verify()) == []
    assert _lies_in(tmp_path) == set()


def test_while_somebody_reads_a_purge_says_what_is_left_and_finishes_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, clock = tmp_path / "memory.db", FixedClock()
    monkeypatch.setenv("RECOLLECT_BUSY_SECONDS", "0.05")
    with recollect.open(path, model="hashing", clock=clock) as memory:
        secret = memory.remember("The password of the shed is Hollyhock", key="hollyhock")
        memory.forget([secret.id])
        clock.tick(60)
        with closing(apsw.Connection(str(path))) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM memory").fetchall()
            gone = memory.purge(clock())
            assert gone == 1
            assert gone.note is not None
            assert "still holds its former pages" in gone.note
            assert _lies_in(tmp_path)
            memory.remember("While it is read, nothing can be done about it")
            assert _lies_in(tmp_path)
            reader.execute("ROLLBACK")
        memory.remember("The next write finishes it")
        assert _lies_in(tmp_path) == set()


def test_who_opens_a_store_finishes_a_purge_that_a_crash_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    script = """
        import apsw, os, sys, recollect
        path = sys.argv[1]
        memory = recollect.open(path, model="hashing")
        secret = memory.remember("The password of the shed is Hollyhock")
        memory.forget([secret.id])
        reader = apsw.Connection(path)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory").fetchall()
        from datetime import UTC, datetime, timedelta
        assert memory.purge(datetime.now(UTC) + timedelta(days=1)).note
        os._exit(0)
    """
    environment = {**os.environ, "RECOLLECT_BUSY_SECONDS": "0.05"}
    subprocess.run([sys.executable, "-c", dedent(script), path], check=True, env=environment)
    assert _lies_in(tmp_path)
    with recollect.open(path, model="hashing"):
        assert _lies_in(tmp_path) == set()


@pytest.mark.parametrize("with_observation", [False, True])
def test_keys_of_what_was_purged_lose_their_words_and_still_repeat_nothing(
    tmp_path: Path, with_observation: bool
) -> None:
    clock = FixedClock()
    with recollect.open(tmp_path / "memory.db", model="none", clock=clock) as memory:
        entity = {"name": "Shed", "observations": ["its password is Hollyhock"]}
        memory.create_entities([entity], key="about the hollyhock")
        if with_observation:
            memory.graph.delete_observations({"Shed": ["its password is Hollyhock"]})
        else:
            memory.graph.delete_entities(["Shed"])
        clock.tick(60)
        memory.purge(clock())
        assert _lies_in(tmp_path) == set()
        assert memory.create_entities([entity], key="about the hollyhock").entities[0].created
        # The receipt is as it was then, and nothing was stored again.
        assert memory.counts().observations == 0
