"""Access over HTTP, through a real socket: accepted requests, refused ones, and their messages."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

import pytest
from api_world import ACCEPTED, HELLO, TOKEN, running_program
from conftest import PATIENCE_SECONDS

from recollect.bootstrap import kept_token
from recollect.domain.errors import InvalidInput
from recollect.settings import Settings
from recollect_server.access_policy import AccessPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from command_line import CommandLine

pytest_plugins = ["command_line"]
EVERYWHERE = "0.0.0.0"  # noqa: S104  # behind a token, for a moment


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Listening:
    """A server, and how it was reached."""

    host: str
    port: int
    log: Path

    def knock(
        self, method: str = "POST", path: str = "/mcp", body: Any = None, **headers: str | None
    ) -> Answer:
        """Ask as a client that shows the token; headers replace ours, and None leaves one out."""
        shown = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            **ACCEPTED,
            **headers,
        }
        connection = HTTPConnection(self.host, self.port, timeout=PATIENCE_SECONDS)
        try:
            given = json.dumps(HELLO).encode() if body is None else body
            kept = {name: value for name, value in shown.items() if value is not None}
            connection.request(method, path, given, kept)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def wait_for_output(self, wanted: str) -> str:
        """Wait until the server's output contains this, then return the output."""
        for _ in range(PATIENCE_SECONDS * 20):
            text = self.log.read_text(encoding="utf-8")
            if wanted in text:
                return text
            time.sleep(0.05)
        pytest.fail(f"{wanted!r} is not in {text!r}")


@contextmanager
def listening(recollect: CommandLine, *options: str, **set_: str) -> Iterator[Listening]:
    typed = ("serve", "--http", "--port", "0", *options)
    with running_program(recollect, r"at http://(\S+):(\d+)/mcp", *typed, **set_) as (_, found):
        yield Listening(found[1].strip("[]"), int(found[2]), recollect.store.with_name("said"))


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    """One server for all that is refused, since that changes nothing in it."""
    from command_line import CommandLine

    folder = tmp_path_factory.mktemp("door")
    environment: dict[str, str | None] = {
        "RECOLLECT_STORE": str(folder / "memory.db"),
        "RECOLLECT_CONFIG": os.devnull,
        "RECOLLECT_MODEL": "hashing",
    }
    with listening(CommandLine(folder / "memory.db", environment), "--token", TOKEN) as here:
        yield here


def test_the_server_prints_the_addresses_of_the_dashboard_the_api_and_its_page(door: Listening) -> None:
    said = door.wait_for_output("API docs: ")
    for name, path in (("Dashboard", "/"), ("REST API", "/v1"), ("API docs", "/docs")):
        assert f"{name}: http://{door.host}:{door.port}{path}\n" in said
        assert door.knock("GET", f"{path}/stats" if path == "/v1" else path).status in {200, 303}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "advice"),
    [
        ("POST", "/mcp", {"Host": "evil.example"}, 421, "--allow-host evil.example"),
        ("POST", "/mcp", {"Host": "evil.example:7438"}, 421, "--allow-host evil.example"),
        ("POST", "/mcp", {"Host": "localhost.evil.example"}, 421, "--allow-host"),
        ("POST", "/mcp", {"Host": "evil.example/localhost"}, 421, "header `Host`"),
        ("POST", "/mcp", {"Host": "evil@localhost"}, 421, "header `Host`"),
        ("POST", "/mcp", {"Origin": "https://evil.example"}, 403, "--allow-host"),
        ("POST", "/mcp", {"Origin": "null"}, 403, "--allow-host"),
        ("POST", "/mcp", {"Origin": "http://localhost.evil.example:80"}, 403, "--allow-host"),
        ("POST", "/mcp", {"Authorization": None}, 401, "Authorization: Bearer TOKEN"),
        *(
            ("POST", "/mcp", {"Authorization": shown}, 401, "Send the header `Authorization: Bearer TOKEN`; ")
            for shown in ("", "Bearer wrong", "Bearer", "Basic c2VzYW1l", "bearer wrong", f"Bearer {TOKEN}2")
        ),
        ("POST", "/elsewhere", {}, 404, "/mcp"),
        ("GET", "/mcp/elsewhere", {}, 404, "/mcp"),
        # A client without a token asks here whether there is a way to get one.
        ("GET", "/.well-known/oauth-protected-resource", {"Authorization": None}, 404, "/mcp"),
        ("PUT", "/mcp", {}, 405, "POST"),
        ("POST", "/mcp", {"Content-Type": "text/plain"}, 400, "Content-Type: application/json"),
    ],
)
def test_who_is_refused_is_told_in_json_what_to_do(
    door: Listening, method: str, path: str, headers: dict[str, str | None], status: int, advice: str
) -> None:
    answer = door.knock(method, path, **headers)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/json"
    told = json.loads(answer.body)
    assert set(told) == {"error", "message"}
    assert advice in told["message"]


def test_refusals_carry_the_headers_that_their_status_asks_for(door: Listening) -> None:
    assert b'"serverInfo"' in door.knock().body
    assert door.knock("PUT").headers["allow"] == "GET, POST, DELETE"
    assert door.knock(Authorization=None).headers["www-authenticate"] == 'Bearer realm="recollect"'


def test_this_machine_is_known_by_its_own_names_and_its_pages_may_ask(door: Listening) -> None:
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:80", "[::1]"):
        assert door.knock(Host=host).status == 200, host
    for origin in ("http://localhost:3000", "https://127.0.0.1", "http://[::1]:6274"):
        assert door.knock(Origin=origin).status == 200, origin


def test_a_request_that_is_too_large_is_refused_whether_it_says_so_or_not(door: Listening) -> None:
    much = b" " * (4 * 1024**2 + 1)
    declared, streamed = door.knock(body=much), door.knock(body=iter([much[:1000], much[1000:]]))
    for answer in (declared, streamed):
        assert answer.status == 413
        assert json.loads(answer.body)["message"] == "A request may have up to 4 MiB; split it into several."
    assert door.knock().status == 200


def test_on_every_address_others_come_in_by_the_names_that_are_allowed(recollect: CommandLine) -> None:
    with listening(recollect, "--host", EVERYWHERE, RECOLLECT_TOKEN=TOKEN) as here:
        assert here.host == "127.0.0.1"
        assert f"--allow-host {socket.gethostname()}" in here.wait_for_output("--allow-host")
        assert here.knock(Host="box.local:7438").status == 421
    allowed = ("--host", EVERYWHERE, "--allow-host", "Box.local", "--allow-host", "192.0.2.7")
    settings = {"RECOLLECT_TOKEN": TOKEN, "RECOLLECT_ALLOW_HOSTS": "[2001:DB8::7], tea.example"}
    with listening(recollect, *allowed, **settings) as here:
        for host in ("box.local:7438", "192.0.2.7:7438", "[2001:db8::7]:7438", "tea.example"):
            assert here.knock(Host=host).status == 200, host
        assert here.knock(Origin="https://tea.example").status == 200
        assert here.knock(Host="other.local").status == 421
        assert "--allow-host" not in here.wait_for_output("Bearer TOKEN")


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
def test_an_address_of_ipv6_is_told_as_a_client_takes_it(recollect: CommandLine) -> None:
    with listening(recollect, "--host", "::1", RECOLLECT_TOKEN=TOKEN) as here:
        assert f"at http://[::1]:{here.port}/mcp\n" in here.wait_for_output("/mcp")
        assert here.knock().status == 200


@pytest.mark.parametrize(
    ("host", "url", "everywhere", "others"),
    [
        ("127.0.0.1", "http://127.0.0.1:1/mcp", False, False),
        ("127.0.0.2", "http://127.0.0.2:1/mcp", False, False),
        ("localhost", "http://localhost:1/mcp", False, False),
        ("::1", "http://[::1]:1/mcp", False, False),
        ("0.0.0.0", "http://127.0.0.1:1/mcp", True, True),  # noqa: S104  # only spoken of
        ("::", "http://[::1]:1/mcp", True, True),
        ("", "http://127.0.0.1:1/mcp", True, True),
        ("192.0.2.7", "http://192.0.2.7:1/mcp", False, True),
        ("box.local", "http://box.local:1/mcp", False, True),
    ],
)
def test_what_an_address_means(host: str, url: str, everywhere: bool, others: bool) -> None:
    door = AccessPolicy(host, 1, None)
    assert (door.url(1), door.listens_everywhere, door.is_open_to_others) == (url, everywhere, others)


def test_a_token_that_the_user_set_is_not_printed(recollect: CommandLine) -> None:
    settings: dict[tuple[str, ...], dict[str, str]] = {(): {"RECOLLECT_TOKEN": TOKEN}, ("--token", TOKEN): {}}
    for options, variables in settings.items():
        with listening(recollect, *options, **variables) as here:
            assert TOKEN not in here.wait_for_output("the token that you set")
            assert here.knock().status == 200
    assert not token_file(recollect.store).exists()


def token_file(store: Path) -> Path:
    return store.with_name(store.name + "-token")


def test_of_servers_that_start_at_once_all_keep_one_token(tmp_path: Path) -> None:
    store = tmp_path / "new" / "memory.db"
    settings = Settings(store=store)
    together = threading.Barrier(8)
    tokens: list[str] = []

    def start() -> None:
        together.wait()
        tokens.append(kept_token(settings))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert tokens == [token_file(store).read_text().strip()] * 8
    assert [each.name for each in store.parent.iterdir()] == ["memory.db-token"]
    if sys.platform != "win32":
        assert stat.S_IMODE(token_file(store).stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"\n", b"two words\n", "olé\n".encode(), b"\xff\xfe", b"a\x00b"])
def test_a_file_that_holds_no_token_is_told_and_left(tmp_path: Path, content: bytes) -> None:
    settings = Settings(store=tmp_path / "memory.db")
    token_file(tmp_path / "memory.db").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"memory\.db-token has no valid token\. Remove it"):
        kept_token(settings)
    assert token_file(tmp_path / "memory.db").read_bytes() == content


def test_a_token_that_no_header_could_carry_is_refused_and_not_shown(recollect: CommandLine) -> None:
    for token in ("", "two words", "tab\there", "line\n", "olé", "\x1b[0m"):
        assert "A token is one word" in recollect.refused("serve", "--http", "--token", token, status=1)
    told = recollect.refused("serve", "--http", RECOLLECT_TOKEN="my secret", status=1)  # noqa: S106
    assert "A token is one word" in told
    assert "secret" not in told
    assert not recollect.store.exists()


@pytest.mark.parametrize("host", ["http://box.local", "box.local:7438", "*", "", "a b", "box/path"])
def test_what_is_no_host_cannot_be_allowed(recollect: CommandLine, host: str) -> None:
    assert "is not a host name" in recollect.refused("serve", "--http", "--allow-host", host, status=1)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--port", "7438"), "--port"),
        (("--host", "127.0.0.1"), "--host"),
        (("--token", "x"), "--token"),
        (("--no-token",), "--no-token"),
        (("--port", "1", "--allow-host", "box"), "--port, --allow-host"),
    ],
)
def test_an_option_that_only_http_has_is_not_passed_over(
    recollect: CommandLine, options: tuple[str, ...], named: str
) -> None:
    told = recollect.refused("serve", *options, status=2)
    assert f"These options need --http: {named}." in told


def test_a_contradiction_and_a_host_that_leads_nowhere_are_told(recollect: CommandLine) -> None:
    told = recollect.refused("serve", "--http", "--token", "x", "--no-token", status=2)
    assert "not both" in told
    told = recollect.refused("serve", "--http", "--host", "no.such.host.invalid", "--token", TOKEN, status=1)
    assert "Cannot listen on port 7438 of no.such.host.invalid" in told
    assert "Unknown error" not in told
