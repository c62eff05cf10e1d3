"""Files that are no lines of a memory, on the screen Import and export; in process."""

from __future__ import annotations

import io
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

import recollect
from recollect_server.access_policy import AccessPolicy
from recollect_server.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recollect.engine import Engine


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    with recollect.open(tmp_path / "memory.db", model="none") as memory:
        yield memory


@pytest.fixture
def browser(memory: Engine) -> TestClient:
    faces = app(lambda: memory, ["recall"], AccessPolicy("127.0.0.1", 0, None))
    return TestClient(faces, base_url="http://localhost", headers={"origin": "http://localhost"})


def test_a_talk_is_looked_at_and_keeps_its_name(browser: TestClient, memory: Engine) -> None:
    file = ("../Garden notes.md", b"# Garden\n\nThe peas are up.\n")
    looked = browser.post("/health/import", files={"file": file})
    assert "1 conversation with 1 turn (markdown)" in looked.text
    assert not memory.sessions.list()
    key = looked.url.params["file"]
    for new in ("1 new turn", "0 new turns"):
        done = browser.post("/health/import/run", data={"file": key})
        assert new in done.text
        assert [each.name for each in memory.sessions.list()] == ["markdown:Garden_notes.md"]
        # It goes once it was imported, and is sent again.
        assert browser.post("/health/import/run", data={"file": key}).status_code == 404
        key = browser.post("/health/import", files={"file": file}).url.params["file"]


def test_what_cannot_be_imported_is_named_as_the_reader_named_it(browser: TestClient) -> None:
    refused = browser.post("/health/import", files={"file": ("photo.png", b"\x89PNG")})
    assert refused.status_code == 400
    assert "Nothing in photo.png could be read" in refused.text
    assert "/tmp" not in refused.text  # noqa: S108  # where such files are kept
    nothing = browser.post("/health/import", data={"csrf": ""})
    assert "Choose a file to import first." in nothing.text


def test_an_export_is_one_file_of_the_format_that_was_chosen(
    browser: TestClient, memory: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("The peas are up.")

    def fetched(**fields: str) -> bytes:
        made = browser.post("/health/export", data=fields)
        assert "The export is ready" in made.text
        return browser.get(f"/health/export/{made.url.params['file']}").content

    assert fetched().startswith(b'{"recollect":2}\n')
    assert fetched(format="full", without_learning="1").startswith(b'{"recollect":1}\n')
    for format_, name in (("markdown", "notes/"), ("csv", "memories.csv")):
        with zipfile.ZipFile(io.BytesIO(fetched(format=format_))) as packed:
            [held] = [each for each in packed.namelist() if each.startswith(name)]
            assert b"The peas are up." in packed.read(held)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "pyarrow.parquet", raising=False)
    missing = browser.post("/health/export", data={"format": "parquet"})
    assert missing.status_code == 501
    assert "recollect-memory[parquet]" in missing.text
    refused = browser.post("/health/export", data={"format": "pdf"})
    assert refused.status_code == 400
    assert "full, official, markdown, csv, parquet" in refused.text
