"""A change that expects a version of a memory: checked in the transaction that writes, on every store."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from conftest import PATIENCE_SECONDS

from recollect.admin import Internals
from recollect.domain.errors import Outdated
from recollect.services import memory_version

if TYPE_CHECKING:
    from recollect.engine import Engine


def version_of(engine: Engine, id_: int) -> str:
    memory = engine.get(id_)
    assert memory is not None
    return memory_version(memory)


def test_of_two_that_expect_the_same_version_one_writes(engine: Engine) -> None:
    id_ = engine.remember("Ines drinks oolong").id
    expected = [version_of(engine, id_)]
    together, told = threading.Barrier(2), list[str]()

    def edit(text: str) -> None:
        mine = Internals(engine).expecting(id_, expected)
        together.wait(PATIENCE_SECONDS)
        try:
            mine.update(id_, text=text)
        except Outdated:
            told.append("outdated")
        else:
            told.append("written")

    threads = [threading.Thread(target=edit, args=[text]) for text in ("Tea", "Coffee")]
    for each in threads:
        each.start()
    for each in threads:
        each.join(PATIENCE_SECONDS)
    assert sorted(told) == ["outdated", "written"]


def test_what_follows_a_change_is_not_held_against_it(engine: Engine) -> None:
    """A new text gets its vector and is compared with others after the edit, in writes of their own."""
    id_ = engine.remember("Ines drinks oolong").id
    engine.remember("Ines drinks oolong in the evening")
    updated = (
        Internals(engine)
        .expecting(id_, [version_of(engine, id_)])
        .update(id_, text="Ines drinks oolong at night")
    )
    assert updated.text == "Ines drinks oolong at night"
    assert engine.counts().due == 0


def test_use_and_dreams_make_no_new_version_but_every_edit_does(engine: Engine) -> None:
    id_ = engine.remember("Ines drinks oolong").id
    versions = [version_of(engine, id_)]
    engine.recall("oolong")
    engine.dream(gate=False)
    assert version_of(engine, id_) == versions[0]
    engine.update(id_, importance=0.9)
    versions.append(version_of(engine, id_))
    engine.update(id_, tags=["tea"])
    versions.append(version_of(engine, id_))
    engine.forget([id_])
    versions.append(version_of(engine, id_))
    assert len(set(versions)) == 4
    with pytest.raises(Outdated, match="read it again"):
        Internals(engine).expecting(id_, versions[:3]).restore(id_)
