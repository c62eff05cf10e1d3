"""Named tokens: kept with the store, limited, noted when used, and none lost where several are made."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from recollect.admin import Tokens
from recollect.domain.errors import Conflict, InvalidInput
from recollect.domain.records import Scope
from recollect.write import lifecycle as records

if TYPE_CHECKING:
    from recollect.engine import Engine


def test_tokens_are_limited_in_number_and_rights(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="Unknown right 'root'; choose one of: read, write, admin"):
        Tokens(engine).create("x", right="root")
    monkeypatch.setattr(records, "MOST_TOKENS", 4)
    for number in range(4):
        Tokens(engine).create(f"t{number}")
    with pytest.raises(InvalidInput, match="4 tokens, the maximum of a store; revoke"):
        Tokens(engine).create("more")
    with pytest.raises(Conflict):
        Tokens(engine).create("t1")
    Tokens(engine).revoke("t1")
    Tokens(engine).create("more", sees=Scope("ana", None))
    found = {each.name: each for each in Tokens(engine).list()}
    assert (len(found), found["more"].sees) == (4, Scope("ana", None))
    # Whatever scope the memory is seen in.
    assert Tokens(engine.scoped("bob", "cook")).list() == Tokens(engine).list()


def test_a_use_is_noted_for_that_token_alone(engine: Engine) -> None:
    Tokens(engine).create("one")
    Tokens(engine).create("two")
    one, _ = Tokens(engine).list()
    Tokens(engine).note_use(one)
    engine._services.worker.settle_usage()
    assert [each.used_at is not None for each in Tokens(engine).list()] == [True, False]
    Tokens(engine).revoke("one")
    Tokens(engine).note_use(one)
    engine._services.worker.settle_usage()
    assert [each.name for each in Tokens(engine).list()] == ["two"]


def test_tokens_made_at_once_are_all_kept(engine: Engine) -> None:
    names = [f"t{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(Tokens(engine).create, names))
    kept = {each.digest for each in Tokens(engine).list()}
    assert kept == {hashlib.sha256(token.encode()).hexdigest() for token in made}
