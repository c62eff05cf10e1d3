"""Monitoring: /healthz, /readyz, /metrics, and what they show without a token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from api_world import TOKEN
from starlette.testclient import TestClient

from recollect.admin import Tokens
from recollect.domain.errors import StoreUnavailable
from recollect.domain.records import Scope
from recollect_server.access_policy import AccessPolicy
from recollect_server.app import app

if TYPE_CHECKING:
    from api_world import Api

    from recollect.engine import Engine

pytest_plugins = ["api_fixtures"]
_LINE = re.compile(r'[a-z_]+(\{([a-z]+="[^"\n]*",?)+\})? -?[0-9.e+]+')


def test_probes_need_no_token(api: Api) -> None:
    stranger = TestClient(api.application)
    assert stranger.get("/healthz").json() == {"status": "ok"}
    assert stranger.get("/readyz").json() == {"status": "ready"}
    for path in ("/metrics", "/openapi.json"):
        assert stranger.get(path).status_code == 401


def test_a_store_that_does_not_open_is_not_ready_and_strangers_do_not_learn_where_it_is() -> None:
    def broken() -> Engine:
        raise StoreUnavailable("/secret/place is locked.")

    client = TestClient(app(broken, ["recall"], AccessPolicy("127.0.0.1", 0, TOKEN, ("testserver",))))
    assert client.get("/healthz").status_code == 200
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["reason"] == "The store cannot be used now; `recollect doctor` shows more."


def test_metrics_count_calls_and_errors_and_tell_how_much_there_is(api: Api) -> None:
    api.client.post("/v1/memories", json={"text": "Ines drinks oolong"})
    api.client.post("/v1/memories?owner=ines", json={"text": "Ines keeps bees"})
    api.client.get("/v1/memories/77")
    api.client.get("/recall")
    api.client.get("/graph?name=Nobody&as_of=never")
    answer = api.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert all(line.startswith("# ") or _LINE.fullmatch(line) for line in lines)
    assert 'recollect_call_duration_seconds_count{operation="remember"} 2' in lines
    assert 'recollect_call_errors_total{operation="get_memory",kind="NotFound"} 1' in lines
    assert 'recollect_screen_duration_seconds_count{screen="/recall"} 1' in lines
    assert 'recollect_screen_errors_total{screen="/graph",kind="InvalidInput"} 1' in lines
    assert 'recollect_rows{kind="note"} 2' in lines
    assert "recollect_vectors_pending 0" in lines
    assert any(line.startswith("recollect_store_bytes ") for line in lines)


def test_a_token_of_one_owner_sees_nothing_of_the_others_in_the_metrics(api: Api) -> None:
    api.memory.scoped("ines").remember("Ines keeps bees")
    api.memory.remember("Otto mends clocks")
    api.memory.remember("Otto sings")
    token = Tokens(api.memory).create("watcher", right="read", sees=Scope("ines"))
    answer = TestClient(api.application).get("/metrics", headers={"Authorization": f"Bearer {token}"})
    lines = answer.text.splitlines()
    assert 'recollect_rows{kind="note"} 1' in lines
    assert not any(line.startswith(("recollect_store_bytes", "recollect_scopes")) for line in lines)
