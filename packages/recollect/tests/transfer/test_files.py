"""Where an import reads and an export writes."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from transfer_world import engine_at, entity, exported, relation

from recollect.domain.errors import Conflict, InvalidInput
from recollect.domain.limits import TEXT_LIMIT
from recollect.domain.records import Relation
from recollect.transfer import export_file, import_file
from recollect.transfer import files as files_module
from recollect.transfer.line_formats import official_line

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.domain.records import Memory
    from recollect.engine import Engine

pytest_plugins = ["transfer_stores"]

TEXT = entity("Ada", "naïve") + entity("Bob") + relation("Ada", "knew", "Bob")


SHAPES = {
    "byte-order mark": TEXT.encode("utf-8-sig"),
    "CRLF": TEXT.replace("\n", "\r\n").encode(),
    "no last line end": TEXT.rstrip("\n").encode(),
    "empty lines": b"\n \r\n" + TEXT.replace("\n", "\n\n").encode(),
    "gzip": gzip.compress(TEXT.encode()),
    "mark and CRLF": b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n\r\n").encode(),
}


def test_a_file_may_come_from_anywhere(mine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(TEXT.encode())
    assert import_file(mine, str(path)).entities_created == 2
    assert import_file(mine, path).entities_merged == 2
    for shape, content in SHAPES.items():
        engine = mine.scoped(shape)
        report = import_file(engine, io.BytesIO(content))
        assert (report.lines, report.bad_count) == (3, 0)
        assert exported(engine, "official") == TEXT
    for content in (b"", b"\n\n", b"\xef\xbb\xbf"):
        for keep_going in (True, False):
            report = import_file(mine, io.BytesIO(content), keep_going=keep_going)
            assert (report.lines, report.changed) == (0, False)


def test_what_cannot_be_read_is_named(mine: Engine, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"There is no file .*absent"):
        import_file(mine, tmp_path / "absent")
    with pytest.raises(InvalidInput, match="is a folder"):
        import_file(mine, tmp_path)
    with pytest.raises(InvalidInput, match="UTF-16"):
        import_file(mine, io.BytesIO(TEXT.encode("utf-16")))
    packed = gzip.compress(TEXT.encode() * 50)
    for keep_going in (True, False):
        with pytest.raises(InvalidInput, match="could not be read to its end"):
            import_file(mine, io.BytesIO(packed[: len(packed) // 2]), keep_going=keep_going)


def test_a_line_that_is_too_long_is_passed_over(mine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "LINE_LIMIT", 200)
    long = entity("Long", "x" * 1_000)
    report = import_file(mine, io.StringIO(entity("Before") + long + entity("After")))
    assert (report.entities_created, report.bad_lines[0].line) == (2, 2)
    assert "too long" in report.bad_lines[0].reason
    # A full export has all former texts of a memory on its line: here, twenty of the greatest length.
    monkeypatch.undo()
    line = "字".encode() * TEXT_LIMIT * 20
    with files_module.open_lines(io.BytesIO(line)) as source:
        assert [content == line for _, content in source.lines()] == [True]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes with a name")
def test_a_pipe_can_be_read_though_it_can_be_read_only_once(mine: Engine, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=pipe.write_bytes, args=(TEXT.encode(),))
    writing.start()
    report = import_file(mine, pipe, keep_going=False)
    writing.join()
    assert report.relations_created == 1


def test_progress_counts_the_bytes_of_every_pass_and_arrives(mine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text("".join(entity(f"e{n}") for n in range(2_500)) + relation("e1", "to", "e2"))
    told: list[tuple[int, int | None]] = []
    embedded: list[tuple[int, int | None]] = []
    import_file(
        mine,
        path,
        progress=lambda *done: told.append(done),
        embed_progress=lambda *done: embedded.append(done),
    )
    whole = 2 * path.stat().st_size
    assert {total for _, total in told} == {whole}
    assert told == sorted(told)
    assert told[-1] == (whole, whole)
    assert embedded[-1] == (2_500, 2_500)
    # Also where a pass is not needed.
    import_file(mine, io.StringIO(entity("Ada")), progress=lambda *done: told.append(done))
    assert told[-1][0] == told[-1][1]


def test_without_a_model_the_rows_are_there_and_the_report_says_why_meaning_is_not(tmp_path: Path) -> None:
    with engine_at(tmp_path / "none.db", model="none") as mine:
        report = import_file(mine, io.StringIO(TEXT), embed=False)
        assert (report.embedded, report.note, mine.counts().due) == (0, None, 3)
        report = import_file(mine, io.StringIO(TEXT))
        assert report.note is not None
        assert "No model is set" in report.note
        assert (report.embedded, mine.counts().due, len(mine.search("naive").hits)) == (0, 3, 1)
    with engine_at(tmp_path / "missing.db", model="missing") as mine:
        assert import_file(mine, io.StringIO(TEXT)).note == "missing is not installed: pip install missing"


# Out


@pytest.fixture
def filled(mine: Engine) -> Engine:
    import_file(mine, io.StringIO(TEXT))
    return mine


def test_an_export_goes_to_a_new_file(filled: Engine, tmp_path: Path) -> None:
    report = export_file(filled, tmp_path / "out.jsonl", format="official")
    assert (tmp_path / "out.jsonl").read_bytes() == TEXT.encode()
    assert (report.lines, report.entities, report.observations, report.relations) == (3, 2, 1, 1)
    assert [path.name for path in tmp_path.glob("*.part")] == []


def test_a_file_that_is_there_is_kept_unless_told_otherwise(filled: Engine, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("precious")
    path.chmod(0o640)
    with pytest.raises(Conflict, match="exists already"):
        export_file(filled, path, format="official")
    assert path.read_text() == "precious"
    export_file(filled, path, overwrite=True, format="official")
    assert path.read_bytes() == TEXT.encode()
    assert path.stat().st_mode & 0o777 == 0o640


def test_an_export_that_fails_leaves_the_old_file_and_no_draft(
    filled: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("precious")

    def full_disk(record: Memory | Relation) -> str:
        if isinstance(record, Relation):
            raise OSError(28, "No space left on device")
        return official_line(record)

    monkeypatch.setattr("recollect.transfer.exporting.official_line", full_disk)

    with pytest.raises(InvalidInput, match="No space left on device"):
        export_file(filled, path, overwrite=True, format="official")
    assert path.read_text() == "precious"
    assert sorted(one.name for one in tmp_path.iterdir() if one.name.endswith(".part")) == []


def test_an_export_never_lands_on_a_store_a_folder_or_a_device(mine: Engine, tmp_path: Path) -> None:
    before = (tmp_path / "one.db").read_bytes()
    with pytest.raises(Conflict, match="is a database"):
        export_file(mine, tmp_path / "one.db", overwrite=True)
    assert (tmp_path / "one.db").read_bytes() == before
    with pytest.raises(InvalidInput, match="is a folder"):
        export_file(mine, tmp_path, overwrite=True, format="official")
    with pytest.raises(InvalidInput, match="There is no folder"):
        export_file(mine, tmp_path / "absent" / "out.jsonl")
    if sys.platform != "win32":
        with pytest.raises(InvalidInput, match="not an ordinary file"):
            export_file(mine, "/dev/null", overwrite=True)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_stays_a_link(filled: Engine, tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    export_file(filled, tmp_path / "link.jsonl", overwrite=True, format="official")
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").read_bytes() == TEXT.encode()


def test_an_export_may_go_to_a_stream_of_text_or_bytes(filled: Engine, tmp_path: Path) -> None:
    text, content = io.StringIO(), io.BytesIO()
    export_file(filled, text, format="official")
    export_file(filled, content, format="official")
    with (tmp_path / "raw").open("wb", buffering=0) as raw:
        export_file(filled, raw, format="official")
    assert text.getvalue() == TEXT
    assert content.getvalue() == (tmp_path / "raw").read_bytes() == TEXT.encode()


def test_a_packed_export_is_the_same_each_time_and_reads_back(
    filled: Engine, other: Engine, tmp_path: Path
) -> None:
    export_file(filled, tmp_path / "a.jsonl.gz", format="full")
    export_file(filled, tmp_path / "b.jsonl.gz", format="full")
    import_file(other, tmp_path / "a.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert exported(other) == exported(filled)


def test_export_tells_how_far_it_is(mine: Engine) -> None:
    import_file(mine, io.StringIO("".join(entity(f"e{n}") for n in range(1_200))))
    told: list[tuple[int, int | None]] = []
    export_file(mine, io.StringIO(), progress=lambda done, total: told.append((done, total)))
    assert told == [(500, 1_200), (1_000, 1_200), (1_201, 1_201)]  # and a line of a setting
