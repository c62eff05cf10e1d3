"""A dream that was killed does not hold up the next one; one that lives does, as does one elsewhere."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from recollect.domain.changes import DREAMING, TakeLease
from recollect.domain.errors import Conflict
from recollect.write.repository import is_dead, process_identity

if TYPE_CHECKING:
    from conftest import FixedClock

    from recollect.engine import Engine
    from recollect.write.repository import Repository

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process began")

IDENTITY = "from recollect.write.repository import process_identity as p; print(p(), flush=True)"


def _dead() -> str:
    done = subprocess.run([sys.executable, "-c", IDENTITY], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_who_is_dead_is_known_to_be_and_nobody_else() -> None:
    dead = _dead()
    assert is_dead(f"{dead} 1")
    assert not is_dead(f"{process_identity()} 1")
    token, boot, namespace, pid, started = dead.split("/")
    elsewhere = [(token, "another-start", namespace, pid, started), (token, boot, "pid:[1]", pid, started)]
    assert not any(is_dead("/".join(parts)) for parts in elsewhere)
    assert not is_dead("somebody else")


def test_a_dream_does_not_wait_for_one_that_was_killed(
    engine: Engine, store: Repository, clock: FixedClock
) -> None:
    engine.remember("Ana drinks tea")
    store.apply([TakeLease(DREAMING, f"{_dead()} 1", 120)], at=clock.now)
    engine.dream()
    with store.read() as view:
        assert view.rows("lease", ("holder",)) == []
    store.apply([TakeLease(DREAMING, f"{process_identity()} 1", 120)], at=clock.now)
    with pytest.raises(Conflict, match="Another process holds the lease"):
        engine.dream()
