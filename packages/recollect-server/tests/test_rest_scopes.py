"""Tokens over REST: each is limited to its own scope, whatever ids it names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from api_world import served
from foreign_calls import SECRET, fill_bobs, foreign_calls, http_foreign_calls
from starlette.testclient import TestClient

from recollect.admin import Tokens
from recollect.domain.records import Scope
from recollect.operations.catalogue import http_operations
from recollect.transfer.moved_rows import exporting
from recollect_server.api.endpoints import ENDPOINTS, ROOT
from recollect_server.runner import Right, right_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest
    from foreign_calls import ForeignCall

    from recollect.engine import Engine
    from recollect.operations.operation import Endpoint


def exported(memory: Engine) -> list[str]:
    with exporting(memory) as export:
        return sorted(map(repr, export.memories()))


def calls_on_bob(engine: Engine, bob: Engine) -> list[ForeignCall]:
    bobs = fill_bobs(engine)
    bob.remember(f"The door of {SECRET} is red", happened_at=datetime(2023, 2, 1, tzinfo=UTC))
    bob.remember(f"The door of {SECRET} is blue now")
    asked = http_operations()["list_answers"].call(bob, {}).result
    found = [
        http_operations()["to_settle"].call(bob, {"kind": kind}).result["items"]
        for kind in ("contradiction", "similar_notes", "similar_observations")
    ]
    answers = [each["id"] for each in asked["answers"]]
    keys = [each["key"] for items in found for each in items]
    assert answers
    assert keys
    return [*foreign_calls(bobs), *http_foreign_calls(bobs, answers, keys)]


def requests(name: str, given: dict[str, Any]) -> Iterator[tuple[Endpoint, str, dict[str, Any]]]:
    """Each way to say a call: what the path names, one by one, and the rest of it."""
    for endpoint in ENDPOINTS:
        if endpoint.operation != name:
            continue
        in_path = list(endpoint.arguments.items())
        if any(argument not in given for _, argument in in_path):
            continue
        rest = {each: given[each] for each in given if each not in dict(in_path).values()}
        values = [given[argument] for _, argument in in_path]
        lists = [value if isinstance(value, list) else [value] for value in values]
        for value in lists[0] if lists else [None]:
            path = endpoint.path
            for part, _ in in_path:
                path = path.replace(f"{{{part}}}", quote(str(value), safe=""))
            yield endpoint, f"{ROOT}{path}", rest


def send(client: TestClient, endpoint: Endpoint, path: str, rest: dict[str, Any]) -> Any:
    if endpoint.takes_query:
        return client.get(path, params=rest)
    if endpoint.method == "DELETE":
        return client.delete(path)
    return client.request(endpoint.method, path, json=rest)


def test_nobody_gets_at_anothers_memory_by_any_endpoint(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bob = engine.scoped("bob")
    calls = calls_on_bob(engine, bob)
    assert {name for name, _ in calls} == set(http_operations())
    before = exported(bob)
    assert len(before) > 5
    tokens = {
        right: Tokens(engine).create(f"ana.{right}", right=right, sees=Scope("ana", None))
        for right in ("write", "admin")
    }
    bobs_token = Tokens(engine).create("bob", sees=Scope("bob", None))
    application = served(engine).application
    reached = set()
    for right, token in tokens.items():
        client = TestClient(application, headers={"Authorization": f"Bearer {token}"})
        for name, given in calls:
            if right == "admin" and right_for(http_operations()[name]) < Right.ADMIN:
                continue  # it has been tried
            for endpoint, path, rest in requests(name, given):
                answer = send(client, endpoint, path, rest)
                reached.add(endpoint.operation_id)
                assert answer.status_code < 500, (endpoint, path, rest, answer.text)
                assert SECRET not in answer.text.lower(), (endpoint, path, rest, answer.text)
        # Nor does the query get at it.
        for path in ("/v1/memories", "/v1/upkeep/export", "/v1/stats", "/metrics", "/timeline"):
            answer = client.get(path, params={"owner": "bob"})
            assert answer.status_code == 403, path
            assert SECRET not in answer.text.lower()
    assert reached == {each.operation_id for each in ENDPOINTS}
    assert exported(bob) == before
    # The calls do find it where it is theirs.
    own = TestClient(application, headers={"Authorization": f"Bearer {bobs_token}"})
    for name, given in calls[:3]:
        for endpoint, path, rest in requests(name, given):
            assert SECRET in send(own, endpoint, path, rest).text.lower(), (path, rest)
