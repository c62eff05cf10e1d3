"""`recollect ui` and HTTPS, as programs of their own: links, certificates, and what is wrong with them."""

from __future__ import annotations

import re
import signal
import ssl
import sys
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import command_line
import pytest
from api_world import TOKEN, running_program
from conftest import PATIENCE_SECONDS

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]
CERT, KEY = (Path(command_line.__file__).with_name(f"localhost.{ending}") for ending in ("pem", "key"))
LINK = r"http://127\.0\.0\.1:(\d+)/sign-in\?once=[\w-]{43}"


def followed(link: str) -> tuple[int, str]:
    place = urlsplit(link)
    connection = HTTPConnection(str(place.hostname), place.port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", f"{place.path}?{place.query}")
        answer = connection.getresponse()
        return answer.status, answer.headers.get("set-cookie", "")
    finally:
        connection.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
def test_ui_prints_a_link_that_signs_in_once_and_uses_a_server_that_runs(recollect: CommandLine) -> None:
    with running_program(recollect, LINK, "ui", "--no-browser", "--port", "0") as (process, found):
        token = recollect.store.with_name("memory.db-token").read_text().strip()
        assert token not in found[0]
        assert [followed(found[0])[0] for _ in range(2)] == [303, 400]
        again = recollect("ui", "--no-browser", "--port", found[1])
        second = re.search(LINK, again.stderr)
        assert second is not None
        status, cookie = followed(second[0])
        assert status == 303
        assert "HttpOnly" in cookie
        # Neither one of another memory, nor one whose token we do not know.
        other = str(recollect.store.with_name("other.db"))
        ui = ("ui", "--no-browser", "--port", found[1])
        assert "Something else listens" in recollect.refused(*ui, "--store", other, status=1)
        assert "Something else listens" in recollect.refused(*ui, RECOLLECT_TOKEN=TOKEN, status=1)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_SECONDS)


def test_https_is_served_with_the_certificate_and_its_cookies_are_secure(recollect: CommandLine) -> None:
    tls = ("--tls-cert", str(CERT), "--tls-key", str(KEY), "--token", TOKEN)
    served = running_program(
        recollect, r"at https://127\.0\.0\.1:(\d+)/mcp", "serve", "--http", "--port", "0", *tls
    )
    with served as (_, found):
        trusted = ssl.create_default_context(cafile=CERT)
        connection = HTTPSConnection("127.0.0.1", int(found[1]), timeout=PATIENCE_SECONDS, context=trusted)
        form = {"content-type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/sign-in", f"token={TOKEN}", form)
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (303, b"")
        assert answer.headers["set-cookie"].startswith("__Host-recollect_session_")
        assert answer.headers["set-cookie"].endswith("; Secure")
        connection.close()


def test_what_is_wrong_with_a_certificate_is_told_in_plain_words(
    recollect: CommandLine, tmp_path: Path
) -> None:
    def refused(cert: Path, key: Path, status: int = 1) -> str:
        files = ("--tls-cert", str(cert), "--tls-key", str(key))
        return recollect.refused("serve", "--http", *files, status=status)

    none = tmp_path / "none.pem"
    assert f"The certificate {none} cannot be read: No such file" in refused(none, KEY)
    assert f"The key {none} cannot be read" in refused(CERT, none)
    assert "are not a certificate and key in PEM form" in refused(KEY, CERT)
    assert "give both" in recollect.refused("serve", "--http", "--tls-cert", str(CERT), status=2)
    assert "give both" in recollect.refused("serve", "--http", RECOLLECT_TLS_KEY=str(KEY), status=2)
    assert "These options need --http: --tls-cert" in recollect.refused(
        "serve", "--tls-cert", str(CERT), status=2
    )
    assert not recollect.store.exists()
