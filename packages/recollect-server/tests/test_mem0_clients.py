"""mem0's own clients, as they are installed, at our door: nothing but its URL and its key is ours."""

from __future__ import annotations

import inspect
import json
import os
import runpy
import socket
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from api_world import running
from conftest import PATIENCE_SECONDS
from starlette.applications import Starlette

import recollect
from recollect.domain.records import Scope
from recollect.mcp.server import CALLER, Calls
from recollect_server.access_policy import AccessPolicy, with_bearer
from recollect_server.app import app
from recollect_server.connections import LimitedConnection
from recollect_server.mem0.routes import mem0_routes
from recollect_server.runner import Caller, MemoryRunner, Right

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from recollect.engine import Engine

EXAMPLE = Path(__file__).parents[3] / "examples" / "mem0_client.py"
Connect = Any
"""From a URL, and perhaps a key, to a client."""
KEY = "a key of sixteen letters or more"
CALLERS = {
    "reader": Caller("reader", Right.READ),
    "writer": Caller("writer", Right.WRITE),
    "admin": Caller("admin", Right.ADMIN),
    "ana": Caller("ana", Right.ADMIN, Scope("ana", None)),
    "ana's cook": Caller("ana's cook", Right.WRITE, Scope("ana", "cook")),
}
TALK = [
    {"role": "system", "content": "You are a helpful cook. I live in a kitchen."},
    {"role": "user", "content": "I am vegetarian and allergic to nuts. I live in Lisbon."},
    {"role": "assistant", "content": "Noted!"},
]


@pytest.fixture(scope="module")
def mem0(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The package, with its telemetry off and its file in a folder of the test; it reads both at import."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "MEM0_TELEMETRY", "False")
        patch.setitem(os.environ, "MEM0_DIR", str(tmp_path_factory.mktemp("mem0")))
        import mem0
        import mem0.exceptions
        from mem0.memory.telemetry import client_telemetry

        assert client_telemetry.posthog is None
        yield mem0


@pytest.fixture(autouse=True)
def connected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Block every connection that leaves the machine."""
    connect = socket.socket.connect

    def local(place: socket.socket, address: Any) -> None:
        if place.family != getattr(socket, "AF_UNIX", None):
            assert address[0] == "127.0.0.1", f"somebody calls {address}"
        connect(place, address)

    monkeypatch.setattr(socket.socket, "connect", local)


@pytest.fixture
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    store: str | Path = tmp_path / "memory.db"
    if getattr(request, "param", "sqlite") == "postgres":
        store = request.getfixturevalue("postgres").database()
    with recollect.open(store, model="hashing") as memory:
        yield memory


@contextmanager
def listening(asgi: Any) -> Iterator[str]:
    """The URL of a server in this process."""
    with running(asgi, http=LimitedConnection, lifespan="off", log_level="error") as port:
        yield f"http://127.0.0.1:{port}/mem0"


@pytest.fixture
def connect(mem0: ModuleType) -> Iterator[Connect]:
    """Makes clients of mem0, which close with the test."""
    with ExitStack() as stack:

        def make_client(url: str, key: str = KEY) -> Any:
            client = mem0.MemoryClient(api_key=key, host=url)
            stack.callback(client.client.close)
            return client

        yield make_client


@pytest.fixture
def url(memory: Engine) -> Iterator[str]:
    with listening(app(lambda: memory, (), AccessPolicy("127.0.0.1", 0, KEY))) as url:
        yield url


@pytest.fixture
def urls_of_callers(memory: Engine) -> Iterator[str]:
    """A server that knows several keys."""
    policy = AccessPolicy("127.0.0.1", 0, None)
    routes = Starlette(routes=mem0_routes(MemoryRunner(lambda: memory, Calls(), policy)))

    async def app_with_known_keys(scope: Any, receive: Any, send: Any) -> None:
        key = with_bearer(scope["path"], dict(scope["headers"]))[b"authorization"].decode()
        scope.setdefault("state", {})[CALLER] = CALLERS[key.removeprefix("Bearer ")]
        await routes(scope, receive, send)

    with listening(app_with_known_keys) as url:
        yield url


@pytest.mark.parametrize("memory", ["sqlite", "postgres"], indirect=True)
def test_the_life_of_a_memory(mem0: ModuleType, connect: Connect, url: str) -> None:
    client = connect(url)
    metadata = {"topic": "food", "priority": 2, "of": {"page": [1, None]}}
    added = client.add(TALK, user_id="ana", agent_id="cook", run_id="monday", metadata=metadata)["results"]
    assert [(each["memory"], each["event"]) for each in added] == [
        ("I am vegetarian and allergic to nuts.", "ADD"),
        ("I live in Lisbon.", "ADD"),
    ]
    diet, city = (each["id"] for each in added)
    # A repeated fact makes no second memory, and small talk makes none.
    again = client.add("I live in Lisbon.", user_id="ana", agent_id="cook", metadata={"topic": "city"})
    assert again["results"] == [{"id": city, "memory": "I live in Lisbon.", "event": "NONE"}]
    assert client.add("hm, thanks", user_id="ana")["results"] == []

    (found, *_) = client.search("who is allergic to nuts?", filters={"user_id": "ana"})["results"]
    expected = {"id": diet, "user_id": "ana", "agent_id": "cook", "run_id": "monday", "metadata": metadata}
    assert expected.items() <= found.items()
    assert 0 < found.pop("score") <= 1
    assert client.get(diet) == found
    assert client.get(city)["metadata"] == {**metadata, "topic": "city"}

    changed = client.update(diet, text="I am vegan and allergic to nuts.", metadata={"topic": "diet"})
    assert (changed["memory"], changed["metadata"]) == ("I am vegan and allergic to nuts.", {"topic": "diet"})
    client.delete(diet)
    told = [(each["event"], each["old_memory"], each["new_memory"]) for each in client.history(diet)]
    vegetarian, vegan = "I am vegetarian and allergic to nuts.", "I am vegan and allergic to nuts."
    assert told == [("ADD", None, vegetarian), ("UPDATE", vegetarian, vegan), ("DELETE", vegan, None)]
    with pytest.raises(mem0.exceptions.MemoryNotFoundError, match=f"'{diet}'"):
        client.get(diet)

    assert [row["id"] for row in client.get_all(filters={"user_id": "ana"})["results"]] == [city]
    users = [(row["type"], row["name"]) for row in client.users()["results"]]
    assert users == [("user", "ana"), ("agent", "cook")]
    client.reset()
    assert client.get_all(filters={"user_id": "ana"})["results"] == []
    assert client.users()["results"] == []


def test_each_message_is_a_memory_without_inference(
    mem0: ModuleType, connect: Connect, url: str, memory: Engine
) -> None:
    client = connect(url)
    options = mem0.client.types.AddMemoryOptions(
        filters={"user_id": "ben"},
        infer=False,
        timestamp=1_700_000_000,
        expiration_date="2999-01-31",
        custom_instructions="none",
    )
    added = client.add(TALK, options)
    assert [each["memory"] for each in added["results"]] == [TALK[1]["content"], TALK[2]["content"]]
    assert added["ignored"] == ["custom_instructions"]
    row = client.get(added["results"][0]["id"])
    assert row["timestamp"] == "2023-11-14T22:13:20+00:00"
    assert row["expiration_date"] == "2999-01-31T23:59:59.999999+00:00"
    said = {TALK[1]["content"], TALK[2]["content"]}
    assert {note.text for note in memory.scoped("ben").list().memories} == said


def test_lists_and_searches_keep_to_their_filters(connect: Connect, url: str) -> None:
    client = connect(url)
    for number in range(5):
        metadata = {"topic": "sea" if number % 2 else "land", "number": number}
        client.add(f"Ship number {number} sails at dawn", user_id="ana", infer=False, metadata=metadata)
    client.add("Ship number 9 sails at noon", user_id="ben", agent_id="pilot", infer=False, app_id="port")

    def numbers(answer: dict[str, Any]) -> list[Any]:
        return [row["metadata"].get("number", row["app_id"]) for row in answer["results"]]

    ana = {"user_id": "ana"}
    first = client.get_all(filters=ana, page=1, page_size=2)
    assert (numbers(first), first["count"], first["previous"]) == ([4, 3], 5, None)
    last = client.get_all(filters=ana, page=3, page_size=2)
    assert (numbers(last), last["next"]) == ([0], None)
    assert numbers(client.get_all(filters={"AND": [ana, {"topic": "sea"}]})) == [3, 1]
    assert numbers(client.get_all(filters={"user_id": {"in": ["ana", "ben"]}}))[:2] == ["port", 4]

    sea = {"AND": [ana, {"metadata": {"topic": "sea"}}, {"number": {"gte": 2}}]}
    assert numbers(client.search("which ship sails?", filters=sea)) == [3]
    assert numbers(client.search("which ship sails?", filters={"agent_id": "pilot"})) == ["port"]
    both = {"OR": [ana, {"user_id": "ben"}]}
    assert set(numbers(client.search("ship", filters=both))) == {0, 1, 2, 3, 4, "port"}
    assert len(client.search("ship", filters=both, top_k=2)["results"]) == 2
    assert client.search("ship", filters=ana, threshold=1.0)["results"] == []
    (named,) = client.search("ship", filters=ana, top_k=1, fields=["memory"])["results"]
    assert named.keys() == {"id", "memory"}


def test_deleting_by_filter_deletes_nothing_else(connect: Connect, url: str, memory: Engine) -> None:
    client = connect(url)
    memory.remember("What the owner of the store noted")
    for user, run, topic in (("ana", "r1", "tea"), ("ana", "r2", "soup"), ("ben", "r1", "tea")):
        client.add(f"I like {topic}.", user_id=user, run_id=run, metadata={"topic": topic})

    def remaining_rows() -> list[tuple[str, str]]:
        users = {"user_id": {"in": ["ana", "ben"]}}
        return sorted((row["user_id"], row["run_id"]) for row in client.get_all(filters=users)["results"])

    everything = [("ana", "r1"), ("ana", "r2"), ("ben", "r1")]
    assert remaining_rows() == everything
    nobodies: tuple[dict[str, Any], ...] = ({}, {"filters": {"AND": []}})
    for nobody in nobodies:
        with pytest.raises(Exception, match="Say whose memories to delete"):
            client.delete_all(**nobody)
    client.delete_all(filters={"AND": [{"user_id": "ana"}, {"topic": "rain"}]})
    assert remaining_rows() == everything
    client.delete_all(user_id="ana", run_id="r1")
    assert remaining_rows() == [("ana", "r2"), ("ben", "r1")]
    assert [one.name for one in memory.scoped("ana").sessions.list()] == ["r2"]
    client.delete_all(user_id="ana")
    assert remaining_rows() == [("ben", "r1")]
    client.delete_users(user_id="ben")
    assert remaining_rows() == []
    assert [note.text for note in memory.list().memories] == ["What the owner of the store noted"]


def test_many_at_once_and_feedback(connect: Connect, url: str) -> None:
    client = connect(url)
    talk = [{"role": "user", "content": text} for text in ("The key is under the mat", "The cat is out")]
    ids = [each["id"] for each in client.add(talk, user_id="ana", infer=False)["results"]]
    client.batch_update([{"memory_id": id_, "text": f"Changed {id_}"} for id_ in ids])
    assert [client.get(id_)["memory"] for id_ in ids] == [f"Changed {id_}" for id_ in ids]
    with pytest.raises(Exception, match="no memory '999'"):
        client.batch_delete([{"memory_id": ids[0]}, {"memory_id": "999"}])
    assert client.get(ids[0])["id"] == ids[0]
    client.search("changed", filters={"user_id": "ana"})
    assert client.feedback(ids[0], "VERY_NEGATIVE")["id"] == ids[0]
    client.batch_delete([{"memory_id": id_} for id_ in ids])
    assert client.get_all(filters={"user_id": "ana"})["count"] == 0


# Features of the hosted platform that mem0's own server lacks, too.
NOT_HERE: dict[str, Callable[[Any], Any]] = {
    "create_memory_export": lambda client: client.create_memory_export("{}", user_id="ana"),
    "get_memory_export": lambda client: client.get_memory_export(user_id="ana"),
    "get_summary": lambda client: client.get_summary({"user_id": "ana"}),
    "get_profile": lambda client: client.get_profile("ana"),
    "generate_profile": lambda client: client.generate_profile("ana"),
    "get_profile_settings": lambda client: client.get_profile_settings(),
    "update_profile_settings": lambda client: client.update_profile_settings(enabled=True),
    "sample_profiles": lambda client: client.sample_profiles(2),
    "get_profile_job": lambda client: client.get_profile_job("1"),
    "update_project": lambda client: client.update_project(custom_instructions="none"),
    "get_webhooks": lambda client: client.get_webhooks("1"),
    "create_webhook": lambda client: client.create_webhook("http://a.example", "a", "1", []),
    "update_webhook": lambda client: client.update_webhook(1, name="b"),
    "delete_webhook": lambda client: client.delete_webhook(1),
}
USED_ABOVE = (
    {"add", "get", "get_all", "search", "update", "delete", "delete_all", "history", "users", "delete_users"}
) | {"reset", "batch_update", "batch_delete", "feedback"}


def test_what_is_not_here_says_so(mem0: ModuleType, connect: Connect, url: str) -> None:
    public = {name for name, _ in inspect.getmembers(mem0.MemoryClient, inspect.isfunction) if name[0] != "_"}
    # `chat` is not there in the client either; a new method must be tried here, or above.
    assert public == NOT_HERE.keys() | USED_ABOVE | {"get_project", "chat"}
    client = connect(url)
    assert client.get_project()["custom_instructions"] is None
    for name, call in NOT_HERE.items():
        with pytest.raises(Exception, match="only on mem0's hosted platform") as refused:
            call(client)
        assert type(refused.value).__name__ == "MemoryNotFoundError", name


@pytest.mark.anyio
async def test_the_asynchronous_client(mem0: ModuleType, url: str) -> None:
    async with mem0.AsyncMemoryClient(api_key=KEY, host=url) as client:
        (added, *_) = (await client.add(TALK, user_id="a/b c", metadata={"topic": "food"}))["results"]
        found = await client.search("allergic to nuts", filters={"user_id": "a/b c"})
        assert found["results"][0]["id"] == added["id"]
        assert (await client.update(added["id"], text="I eat anything."))["memory"] == "I eat anything."
        assert (await client.get(added["id"]))["memory"] == "I eat anything."
        assert [row["event"] for row in await client.history(added["id"])] == ["ADD", "UPDATE"]
        await client.batch_update([{"memory_id": added["id"], "text": "I eat most things."}])
        await client.delete(added["id"])
        assert [row["name"] for row in (await client.users())["results"]] == ["a/b c"]
        await client.delete_users(user_id="a/b c")
        assert (await client.get_all(filters={"user_id": "a/b c"}))["count"] == 0


def test_a_token_does_what_its_right_allows(connect: Connect, urls_of_callers: str) -> None:
    reader, writer, admin = (connect(urls_of_callers, key) for key in ("reader", "writer", "admin"))
    (added,) = writer.add("I like tea.", user_id="ana")["results"]
    assert reader.get(added["id"])["memory"] == "I like tea."
    for call in (
        lambda: reader.add("I like rain.", user_id="ana"),
        lambda: reader.delete(added["id"]),
        writer.reset,
    ):
        with pytest.raises(Exception, match="this needs the right to") as refused:
            call()
        assert type(refused.value).__name__ == "AuthenticationError"
    assert writer.get(added["id"])
    admin.reset()
    assert reader.get_all(filters={"user_id": "ana"})["results"] == []


def test_a_bound_token_sees_its_scope_alone(connect: Connect, urls_of_callers: str) -> None:
    admin, ana, cook = (connect(urls_of_callers, key) for key in ("admin", "ana", "ana's cook"))
    ids = {
        name: client.add(f"I like {name}.", **of)["results"][0]["id"]
        for name, client, of in (
            ("bread", admin, {"user_id": "ben"}),
            ("tea", ana, {"user_id": "ana"}),
            ("soup", cook, {}),
        )
    }
    everyone = {name: set(ids) & seen for name, seen in _seen_by(admin, ana, cook).items()}
    assert everyone == {"admin": {"tea", "soup"}, "ana": {"tea", "soup"}, "cook": {"soup"}}
    for client, name in ((ana, "bread"), (cook, "bread"), (cook, "tea")):
        for call in (client.get, client.delete, client.history):
            with pytest.raises(Exception, match="There is no memory"):
                call(ids[name])
    for filters in ({"user_id": "ben"}, {"OR": [{"user_id": "ana"}, {"user_id": "ben"}]}):
        with pytest.raises(Exception, match="has no access to this owner's"):
            ana.search("what do I like?", filters=filters)
    with pytest.raises(Exception, match="has no access to this owner's"):
        ana.add("I like rain.", user_id="ben")
    assert [row["name"] for row in ana.users()["results"]] == ["ana", "cook"]
    ana.reset()
    assert [row["name"] for row in admin.users()["results"]] == ["ben"]


def _seen_by(admin: Any, ana: Any, cook: Any) -> dict[str, set[str]]:
    found = {
        "admin": admin.get_all(filters={"user_id": "ana"}),
        "ana": ana.get_all(),
        "cook": cook.search("what do I like?"),
    }
    return {
        name: {row["memory"].removeprefix("I like ").removesuffix(".") for row in answer["results"]}
        for name, answer in found.items()
    }


def test_a_wrong_key_is_refused_in_words(mem0: ModuleType, url: str) -> None:
    with httpx.Client() as client, pytest.raises(ValueError, match="Send the header"):
        mem0.MemoryClient(api_key="wrong", host=url, client=client)


def send_request(url: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    host, slash, folder = url.removeprefix("http://").partition("/")
    connection = HTTPConnection(host, timeout=PATIENCE_SECONDS)
    try:
        given = body if isinstance(body, bytes) else None if body is None else json.dumps(body)
        connection.request(method, f"{slash}{folder}{path}", given, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_the_routes_of_mem0s_own_server(url: str) -> None:
    """It has no version in its paths, and takes its key in a header of its own."""

    def ask(method: str, path: str, body: Any = None) -> Any:
        status, said = send_request(url, method, path, body, **{"X-API-Key": KEY})
        assert status == 200, said
        return said

    talk = {"messages": [{"role": "user", "content": "I live in Lisbon."}], "user_id": "ana"}
    (added,) = ask("POST", "/memories", {**talk, "metadata": {"topic": "city"}})["results"]
    assert ask("GET", "/memories?user_id=ana")["results"][0]["id"] == added["id"]
    found = ask("POST", "/search", {"query": "where does Ana live?", "user_id": "ana"})["results"]
    assert found[0]["metadata"] == {"topic": "city"}
    ask("PUT", f"/memories/{added['id']}", {"text": "I live in Porto."})
    assert ask("GET", f"/memories/{added['id']}")["memory"] == "I live in Porto."
    assert len(ask("GET", f"/memories/{added['id']}/history")) == 2
    configured = ask("POST", "/configure", {"llm": {"provider": "openai"}})
    assert configured["ignored"] == ["llm"]
    assert ask("GET", "/configure")["embedder"]["config"]["model"] == "hashing@1"
    ask("POST", "/reset")
    assert ask("GET", "/memories?user_id=ana")["count"] == 0
    assert ask("DELETE", "/memories?user_id=ana")["message"].startswith("0 memories")


SAID = {"messages": "hi", "user_id": "a"}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "advice"),
    [
        ("POST", "/memories", {"messages": []}, 400, "`messages`"),
        ("POST", "/memories", {"messages": "I live here."}, 400, "Say whose memory it is"),
        ("POST", "/memories", b"{", 400, "not JSON"),
        ("POST", "/memories", [1], 400, "send an object"),
        ("POST", "/memories", {**SAID, "messages": [{"content": [{"type": "image"}]}]}, 400, "in words"),
        ("POST", "/memories", {**SAID, "user_id": "a\0"}, 400, "NUL"),
        ("POST", "/memories", {**SAID, "metadata": {"a=b": 1}}, 400, "rename 'a=b'"),
        ("POST", "/search", {"query": "x" * 20_001, "user_id": "a"}, 400, "at most 20,000"),
        ("POST", "/search", {"query": "x", "user_id": "a", "top_k": 5_000}, 400, "`top_k`"),
        ("POST", "/search", {"query": "x", "filters": {"user_id": "\ud800"}}, 400, "surrogate"),
        ("GET", "/memories?user_id=a&page=10000&page_size=1000", None, 400, "10,000 memories"),
        ("GET", "/memories?user_id=a&filters=oops", None, 400, "`filters` is not a JSON object"),
        ("GET", "/memories/one", None, 404, "no memory 'one'"),
        ("GET", f"/memories/{'9' * 5_000}", None, 404, "no memory"),
        ("PUT", "/memories/1", {}, 404, "no memory '1'"),
        ("DELETE", "/entities/tribe/a", None, 404, "there are: user, agent"),
        ("DELETE", "/entities/app/a", None, 400, "delete_all"),
        ("PATCH", "/nothing", None, 404, "memories, search"),
    ],
)
def test_mistakes_are_told_in_mem0s_form(
    url: str, method: str, path: str, body: Any, status: int, advice: str
) -> None:
    answer, said = send_request(url, method, path, body, Authorization=f"Bearer {KEY}")
    assert (answer, list(said)) == (status, ["detail"])
    assert advice in said["detail"]


def test_only_below_mem0_is_a_key_taken_its_way(url: str) -> None:
    for headers in ({"X-API-Key": KEY}, {"Authorization": f"Token {KEY}"}):
        assert send_request(url, "GET", "/v1/ping/", **headers)[0] == 200
        assert send_request(url.removesuffix("/mem0"), "GET", "/v1/memories", **headers)[0] == 401
    assert send_request(url, "GET", "/v1/ping/", Authorization="Token wrong", **{"X-API-Key": KEY})[0] == 401


def test_the_example_runs(mem0: ModuleType, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert mem0.MemoryClient  # with its telemetry off, before the example imports it
    runpy.run_path(str(EXAMPLE))["main"](url, KEY)
    assert capsys.readouterr().out.splitlines() == [
        "ADD I am vegetarian and allergic to nuts.",
        "ADD I live in Lisbon.",
        "found I am vegetarian and allergic to nuts. {'topic': 'food'}",
        "ADD I am vegetarian and allergic to nuts.",
        "UPDATE I am vegan and allergic to nuts.",
        "left 0",
    ]
