"""The REST API through its front door: resources, problems, entity tags, keys, pages, events."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import anyio
import pytest
from api_world import HEADERS, served
from conftest import PATIENCE_SECONDS

from recollect import Engine
from recollect.domain.errors import StoreUnavailable
from recollect.plugin import Internals

if TYPE_CHECKING:
    from api_world import Api
    from conftest import FixedClock
    from starlette.testclient import TestClient


pytest_plugins = ["api_fixtures"]
PROBLEM = "application/problem+json"


@pytest.mark.usefixtures("undoubted")
def test_a_note_is_created_read_changed_forgotten_and_brought_back(rest: TestClient) -> None:
    made = rest.post("/v1/memories", json={"text": "Ines drinks oolong", "tags": ["tea"]})
    assert (made.status_code, made.headers["location"]) == (201, "/v1/memories/1")
    # Said again, nothing is created.
    assert rest.post("/v1/memories", json={"text": "Ines drinks oolong"}).status_code == 200
    assert rest.patch("/v1/memories/1", json={"text": "Ines drinks rooibos"}).json() == {"id": 1}
    assert rest.get("/v1/memories/1").json()["memory"]["text"] == "Ines drinks rooibos"
    events = rest.get("/v1/memories/1/history").json()["events"]
    assert any("oolong" in event["detail"] for event in events)
    assert rest.delete("/v1/memories/1").json() == {"forgotten": [1]}
    assert rest.get("/v1/memories").json() == {"memories": []}
    assert rest.post("/v1/memories/1/restore").json() == {"id": 1}
    newer = rest.post("/v1/memories/1/supersede", json={"text": "Ines drinks only water"})
    assert newer.status_code == 201
    assert newer.json()["retired"] == [1]
    hits = rest.post("/v1/recall", json={"query": "What does Ines drink?"}).json()["hits"]
    assert [hit["text"] for hit in hits] == ["Ines drinks only water"]


def test_owner_and_agent_choose_the_scope_and_stay_in_the_location(rest: TestClient) -> None:
    made = rest.post("/v1/memories?owner=ines&agent=a%26b", json={"text": "Mine alone"})
    assert made.headers["location"] == "/v1/memories/1?owner=ines&agent=a%26b"
    assert rest.get(made.headers["location"]).json()["memory"]["owner"] == "ines"
    assert rest.get("/v1/memories/1").status_code == 404
    assert rest.get("/v1/memories?owner=otto").json() == {"memories": []}


def test_an_entity_has_its_name_in_the_path_whatever_is_in_it(rest: TestClient) -> None:
    names = ["a/b", "status", "50% off?", "Ünïcode"]
    entities = [{"name": name, "entityType": "thing", "observations": [f"is {name}"]} for name in names]
    assert rest.post("/v1/entities", json={"entities": entities}).status_code == 200
    for path, name in zip(("a%2Fb", "status", "50%25%20off%3F", "%C3%9Cn%C3%AFcode"), names, strict=True):
        found = rest.get(f"/v1/entities/{path}").json()
        assert [each["name"] for each in found["entities"]] == [name]
    assert rest.put("/v1/entities/a%2Fb/status", json={"status": "paused"}).status_code == 200
    assert rest.delete("/v1/entities/a%2Fb").status_code == 200
    gone = rest.get("/v1/entities/a%2Fb")
    assert (gone.status_code, gone.headers["content-type"]) == (404, PROBLEM)
    assert "a/b" in gone.json()["detail"]


def test_a_path_does_not_end_at_a_line_break(rest: TestClient) -> None:
    absent = rest.get("/v1/entities/a%0Ab")
    assert (absent.status_code, absent.headers["content-type"]) == (404, PROBLEM)
    messages = {"messages": [{"content": "I moved to Faro."}]}
    saved = rest.post("/v1/sessions/one%0Atwo/messages", json=messages)
    assert (saved.status_code, saved.json()["session"]) == (200, "one\ntwo")


def test_what_goes_wrong_is_told_as_a_problem_with_the_next_step(rest: TestClient) -> None:
    cases: list[tuple[str, str, dict[str, Any], int, str]] = [
        ("GET", "/v1/nothing", {}, 404, "/openapi.json lists"),
        ("GET", "/v1", {}, 404, "/openapi.json lists"),
        ("PUT", "/v1/memories", {}, 405, "GET, POST"),
        ("GET", "/v1/memories/7", {}, 404, "no memory 7"),
        ("GET", "/v1/memories/seven", {}, 422, "`id`"),
        ("GET", "/v1/memories?limit=0", {}, 422, "`limit`"),
        ("GET", "/v1/memories?limit=1&limit=2", {}, 400, "once"),
        ("GET", "/v1/memories?nonsense=1", {}, 422, "nonsense"),
        ("POST", "/v1/recall?limit=1", {"json": {"query": "x"}}, 400, "in the JSON body"),
        ("POST", "/v1/recall", {}, 422, "`query` is missing"),
        ("POST", "/v1/recall", {"json": ["x"]}, 400, "JSON object"),
        ("POST", "/v1/recall", {"content": b'{"query": NaN}'}, 400, "not valid JSON"),
        ("POST", "/v1/recall", {"content": b'{"query": "\xff"}'}, 400, "not valid JSON"),
        ("POST", "/v1/recall", {"content": b"[" * 100_000}, 400, "not valid JSON"),
        ("POST", "/v1/recall", {"data": {"query": "x"}}, 415, "Content-Type"),
        ("PATCH", "/v1/memories/1", {"json": {"id": 2}}, 400, "The path contains"),
        ("DELETE", "/v1/memories/1?query=x", {}, 400, "in the path"),
        ("GET", "/v1/memories/1?owner=a&owner=b", {}, 400, "twice"),
    ]
    for method, path, more, status, told in cases:
        answer = rest.request(method, path, **more)
        problem = answer.json()
        assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM), (method, path)
        assert problem["status"] == status
        assert problem["type"].startswith("urn:recollect:problem:")
        assert problem["title"]
        assert told in problem["detail"], (method, path)
    wrong = rest.post("/v1/recall", json={"query": 1, "limit": "x"}).json()
    assert {each["pointer"] for each in wrong["errors"]} == {"#/query", "#/limit"}


def test_a_refusal_at_the_door_is_a_problem_with_the_fields_that_mcp_clients_read(rest: TestClient) -> None:
    answer = rest.get("/v1/memories", headers={"Authorization": "Bearer wrong"})
    told = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (401, PROBLEM)
    assert (told["status"], told["error"], told["message"]) == (401, "unauthorized", told["detail"])


def test_a_store_that_cannot_be_reached_is_503_with_a_time_to_try_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise StoreUnavailable("The store at /secret/place is locked; close the other program.")

    monkeypatch.setattr(type(api.memory), "list", lambda *_, **__: refused())
    answer = api.client.get("/v1/memories")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "close the other program" in answer.json()["detail"]


def test_a_bug_of_ours_is_no_stack_trace(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(api.memory), "list", lambda *_, **__: 1 / 0)
    answer = api.client.get("/v1/memories")
    assert answer.status_code == 500
    assert "Zero" not in answer.text
    assert "log" in answer.json()["detail"]


# Keys


def test_the_same_key_again_writes_nothing_and_other_words_under_it_are_refused(api: Api) -> None:
    messages = {"messages": [{"role": "user", "content": "I moved to Faro."}]}
    key = {"Idempotency-Key": "k1"}
    first = api.client.post("/v1/sessions/monday/messages", json=messages, headers=key)
    again = api.client.post("/v1/sessions/monday/messages", json=messages, headers=key)
    assert (first.status_code, again.json()["ids"]) == (200, first.json()["ids"])
    assert api.memory.counts().messages == 1
    other = api.client.post("/v1/sessions/tuesday/messages", json=messages, headers=key)
    assert (other.status_code, other.json()["type"]) == (409, "urn:recollect:problem:conflict")
    refused = api.client.post("/v1/dreams", json={}, headers=key)
    assert refused.status_code == 400
    assert "takes no `Idempotency-Key`" in refused.json()["detail"]
    # Forgetting twice is forgetting once, so that the key may be left unused.
    assert api.client.delete("/v1/memories/1", headers=key).status_code == 200


def test_a_batch_that_keeps_going_names_what_it_left_out_by_row(api: Api) -> None:
    post = api.client.post
    fact = {"entityType": "person", "observations": ["Keeps bees"]}
    ines = {"from": "Ines", "to": "Faro", "relationType": "lives_in"}
    for path, rows, left_out in (
        ("/v1/entities", {"entities": [{"name": " ", **fact}, {"name": "Ines", **fact}]}, [0]),
        (
            "/v1/observations",
            {
                "observations": [
                    {"entityName": "Otto", "contents": ["Mends clocks"]},
                    {"entityName": "Ines", "contents": ["Drinks oolong"]},
                    {"entityName": "Otto", "contents": ["Is late"]},
                ]
            },
            [0, 2],
        ),
        ("/v1/relations", {"relations": [{**ines, "to": ""}, ines, {**ines, "from": "\n"}]}, [0, 2]),
        ("/v1/sessions/monday/messages", {"messages": [{"content": "I moved."}, {"content": " "}]}, [1]),
        ("/v1/memories/batch", {"notes": [{"text": " "}, {"text": "Ines lives in Faro"}]}, [0]),
    ):
        refused = post(path, json=rows)
        assert refused.status_code in {404, 422}, path
        assert "Nothing was written." in refused.json()["detail"]
        key = {"Idempotency-Key": f"some of {path}"}
        done = post(path, json={**rows, "keep_going": True}, headers=key)
        assert [each["index"] for each in done.json()["rejected"]] == left_out, path
        assert all(each["reason"] for each in done.json()["rejected"])
        again = post(path, json={**rows, "keep_going": True}, headers=key)
        assert again.json()["rejected"] == done.json()["rejected"]
    counts = api.memory.counts()
    assert (counts.entities, counts.observations, counts.relations, counts.messages) == (2, 2, 1, 1)
    wrong = post("/v1/entities", json={"entities": [], "keep_going": "yes"})
    assert (wrong.status_code, wrong.json()["errors"][0]["pointer"]) == (422, "#/keep_going")
    assert "keep_going" in post("/v1/recall", json={"query": "x", "keep_going": True}).json()["detail"]


def test_a_correction_that_is_tried_again_is_answered_as_the_first_time(api: Api) -> None:
    old = api.memory.remember("Ines lives in Lisbon").id
    copy = api.memory.remember("Ines is living in Lisbon").id
    by = api.memory.remember("The ferry leaves at nine").id
    cases: list[tuple[str, dict[str, Any]]] = [
        ("/v1/memories", {"text": "Ines lives in Faro", "supersedes": old}),
        (f"/v1/memories/{old}/supersede", {"text": "Ines lives in Faro"}),
        (f"/v1/memories/{old}/superseded-by", {"by": by}),
    ]
    for number, (path, body) in enumerate(cases):
        key = {"Idempotency-Key": f"k{number}"}
        first = api.client.post(path, json=body, headers=key)
        again = api.client.post(path, json=body, headers=key)
        assert (first.status_code, again.json()) == (again.status_code, first.json()), path
        assert len(first.json()["retired"]) == 2
        for id_ in (old, copy):
            assert api.client.post(f"/v1/memories/{id_}/restore").status_code == 200
        other = {"by": copy} if "by" in body else {**body, "text": "Ines lives in Porto"}
        refused = api.client.post(path, json=other, headers=key)
        assert refused.status_code == 409
        assert refused.json()["detail"] == (
            "This key was used for other changes before. A retry must repeat the same changes; other changes "
            "need another key. Nothing was written."
        )


# Entity tags


def test_an_edit_of_what_somebody_changed_since_is_refused(rest: TestClient) -> None:
    rest.post("/v1/memories", json={"text": "Ines drinks oolong"})
    tag = rest.get("/v1/memories/1").headers["etag"]
    assert rest.get("/v1/memories/1", headers={"If-None-Match": f'"x", W/{tag}'}).status_code == 304
    # Recording a use is no edit.
    rest.post("/v1/recall", json={"query": "oolong"})
    expected = {"If-Match": tag}
    assert rest.patch("/v1/memories/1", json={"importance": 0.9}, headers=expected).status_code == 200
    for method, path, body in (
        ("PATCH", "/v1/memories/1", {"text": "Ines drinks tea"}),
        ("DELETE", "/v1/memories/1", None),
        ("POST", "/v1/memories/1/supersede", {"text": "Ines drinks water"}),
    ):
        late = rest.request(method, path, json=body, headers=expected)
        assert (late.status_code, late.headers["content-type"]) == (412, PROBLEM), (method, path)
        assert "read it again" in late.json()["detail"]
    memory = rest.get("/v1/memories/1")
    assert memory.json()["memory"]["text"] == "Ines drinks oolong"
    assert rest.delete("/v1/memories/1", headers={"If-Match": memory.headers["etag"]}).status_code == 200
    assert rest.post("/v1/memories/1/restore", headers=expected).status_code == 412
    assert rest.post("/v1/memories/1/restore", headers={"If-Match": "*"}).status_code == 200
    assert rest.patch("/v1/memories/1", json={"text": "x"}, headers={"If-Match": "tag"}).status_code == 400
    assert rest.post("/v1/memories", json={"text": "x"}, headers=expected).status_code == 400


def test_an_entitys_tag_changes_with_its_observations_and_its_relations(rest: TestClient) -> None:
    entity = {"name": "Ines", "entityType": "person", "observations": ["Keeps bees"]}
    rest.post("/v1/entities", json={"entities": [entity]})
    first = rest.get("/v1/entities/Ines").headers["etag"]
    relation = {"from": "Ines", "to": "Faro", "relationType": "lives_in"}
    rest.post("/v1/relations", json={"relations": [relation]})
    second = rest.get("/v1/entities/Ines", headers={"If-None-Match": first})
    assert second.status_code == 200
    # A new relation is shown with the entity, but does not edit it.
    paused = rest.put("/v1/entities/Ines/status", json={"status": "paused"}, headers={"If-Match": first})
    assert paused.status_code == 200
    late = rest.delete("/v1/entities/Ines", headers={"If-Match": second.headers["etag"]})
    assert late.status_code == 412


# Pages


def test_the_link_to_the_next_page_leads_through_all_of_them(rest: TestClient) -> None:
    for number in range(5):
        rest.post("/v1/memories?owner=ines", json={"text": f"Note {number}", "tags": ["a b"]})
    url, found = "/v1/memories?owner=ines&limit=2&tags=a+b", list[int]()
    for _ in range(3):
        page = rest.get(url)
        found += [row["id"] for row in page.json()["memories"]]
        if "link" in page.headers:
            assert page.links["next"]["url"].endswith(f"cursor={page.json()['cursor']}")
            url = page.links["next"]["url"]
    assert found == [5, 4, 3, 2, 1]
    assert "link" not in page.headers


# Events


def events(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.strip().split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_long_work_tells_how_far_it_is_and_then_its_result(rest: TestClient) -> None:
    asked = {"Accept": "text/event-stream"}
    turns = [{"role": "user", "content": f"Turn {number} is about bees."} for number in range(40)]
    answer = rest.post(
        "/v1/sessions/monday/messages", json={"messages": turns, "extract": False}, headers=asked
    )
    assert answer.headers["content-type"].startswith("text/event-stream")
    *progress, last = events(answer.text)
    assert {name for name, _ in progress} == {"progress"}
    done = [data["done"] for _, data in progress]
    assert done == sorted(set(done))
    assert last[0] == "result"
    assert len(last[1]["ids"]) == 40
    # A failure before the first progress event keeps its own status.
    failed = rest.post("/v1/recall", json={}, headers=asked)
    assert (failed.status_code, failed.headers["content-type"]) == (422, PROBLEM)


@pytest.mark.anyio
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_read_ends_when_its_client_goes(
    api: Api, accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, ended = threading.Event(), threading.Event()

    def endless(*_: object, **__: object) -> None:
        started.set()
        try:
            while True:
                api.memory.counts()  # every question to the store may be interrupted
        finally:
            ended.set()

    monkeypatch.setattr(type(api.memory), "list", endless)
    body = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if body:
            return body.pop()
        await anyio.to_thread.run_sync(started.wait, PATIENCE_SECONDS)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        """A listener that drops every event."""

    headers = [(b"host", b"testserver"), (b"accept", accept.encode())]
    headers += [(b"authorization", HEADERS["Authorization"].encode())]
    scope = {"type": "http", "method": "GET", "path": "/v1/memories", "raw_path": b"/v1/memories"}
    scope |= {"headers": headers, "query_string": b"", "http_version": "1.1", "scheme": "http"}
    with anyio.fail_after(PATIENCE_SECONDS):
        await api.application(scope, receive, send)
        assert await anyio.to_thread.run_sync(ended.wait, PATIENCE_SECONDS)


@pytest.mark.usefixtures("undoubted")
def test_a_day_means_its_end_in_the_users_time_zone_over_http_and_on_the_pages(
    engine: Engine, clock: FixedClock
) -> None:
    in_lima = Engine(replace(Internals(engine).services, zone=ZoneInfo("America/Lima")))  # UTC-5
    clock.tick((datetime(2026, 3, 2, 4, 30, tzinfo=UTC) - clock()).total_seconds())
    in_lima.remember("A red kettle, late in the evening")
    clock.tick(3_600)
    in_lima.remember("A blue kettle, after midnight")
    client = served(in_lima).client
    found = client.post("/v1/recall", json={"query": "kettle", "as_of": "2026-03-01"}).json()["hits"]
    assert [hit["id"] for hit in found] == [1]
    assert client.get("/v1/memories/1", params={"as_of": "2026-03-01"}).status_code == 200
    page = client.get("/recall?q=kettle&as_of=2026-03-01").text
    assert "A red kettle, late in the evening" in page
    assert "A blue kettle" not in page
