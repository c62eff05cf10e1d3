"""Tables of memories, observations and relations, as CSV and as Parquet, in a folder or a zip."""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from test_full import a_life
from transfer_world import exported

from recollect.domain.errors import Conflict, InvalidInput, MissingExtra
from recollect.transfer import export_file, recognise
from recollect.transfer.exporting import format_for

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.engine import Engine

pytest_plugins = ["transfer_stores"]


def read_table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def counts(engine: Engine) -> list[int]:
    text = exported(engine)
    return [text.count('"record":"memory"'), text.count('"content":'), text.count('"record":"relation"')]


def test_every_row_is_in_its_table(mine: Engine, tmp_path: Path) -> None:
    a_life(mine)
    mine.remember(
        '=HYPERLINK("x")', tags=["a", "b"], source="-1", metadata={"k": [1]}, category='quo"te, comma'
    )
    mine.remember("'tis quoted")
    mine.remember("line\r\nline 東京")

    report = export_file(mine, tmp_path / "all.csv")

    found = {path.name: path.read_bytes().decode() for path in (tmp_path / "all.csv").iterdir()}
    assert sorted(found) == ["memories.csv", "observations.csv", "recollect.json", "relations.csv"]
    tables = [read_table(found[f"{name}.csv"]) for name in ("memories", "observations", "relations")]
    assert [len(table) for table in tables] == counts(mine)
    assert report.lines == sum(counts(mine))
    assert "learnt from use" in (report.note or "")
    assert found["memories.csv"].split("\r\n")[0].startswith("owner,agent,id,kind,created_at,updated_at,")
    *_, linked, quoted, lines = tables[0]
    # A spreadsheet shows the first letter of a text and does not run it.
    assert (linked["text"], linked["source"]) == ('\'=HYPERLINK("x")', "'-1")
    assert (linked["category"], linked["tags"], linked["pinned"]) == ('quo"te, comma', '["a", "b"]', "false")
    assert (linked["importance"], linked["deleted_at"]) == ("0.5", "")
    assert linked["metadata"] == '{"k": [1]}'
    assert quoted["text"] == "''tis quoted"  # so that one mark less is always the text
    assert lines["text"] == "line\r\nline 東京"
    assert {(row["owner"], row["agent"]) for row in tables[0]} == {("", ""), ("bob", "helper")}
    assert tables[2][0]["source_name"] == "House"
    assert {path.stat().st_mode & 0o77 for path in (tmp_path / "all.csv").rglob("*")} == {0}


def test_a_zip_holds_the_same_and_is_equal_each_time(mine: Engine, tmp_path: Path) -> None:
    a_life(mine)
    for name in ("one", "two"):
        assert export_file(mine, tmp_path / f"{name}.csv.zip").format == "csv"
    export_file(mine, tmp_path / "all.csv", scope_only=False)
    assert (tmp_path / "one.csv.zip").read_bytes() == (tmp_path / "two.csv.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.csv.zip") as packed:
        for name in packed.namelist():
            assert packed.read(name) == (tmp_path / "all.csv" / name).read_bytes()
    assert (tmp_path / "one.csv.zip").stat().st_mode & 0o77 == 0


def test_parquet_keeps_types_and_texts_as_they_are(mine: Engine, tmp_path: Path) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    a_life(mine)
    happened = datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    mine.remember("=1+1", tags=["a"], metadata={"k": 1}, happened_at=happened)
    export_file(mine, tmp_path / "all.parquet")

    tables = [
        parquet.read_table(tmp_path / "all.parquet" / f"{name}.parquet").to_pylist()
        for name in ("memories", "observations", "relations")
    ]
    assert [len(table) for table in tables] == counts(mine)
    last = tables[0][-1]
    assert (last["text"], last["tags"], last["pinned"], last["kind"]) == ("=1+1", ["a"], False, "note")
    assert last["happened_at"] == happened
    assert (last["deleted_at"], last["metadata"]) == (None, '{"k": 1}')
    assert tables[0][0]["importance"] == 1 / 3


def test_tables_do_not_come_back_and_the_error_says_how_to_move(mine: Engine, tmp_path: Path) -> None:
    mine.remember("Ana moved to Lisbon")
    export_file(mine, tmp_path / "tables.csv")
    export_file(mine, tmp_path / "t.zip", format="csv")
    for name in ("tables.csv", "tables.csv/recollect.json", "tables.csv/memories.csv", "t.zip"):
        with pytest.raises(InvalidInput, match=r"is an export to tables.*--format full"):
            recognise(tmp_path / name)


def test_without_the_package_the_error_names_the_command(
    mine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "pyarrow.parquet", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'recollect-memory\[parquet\]'"):
        export_file(mine, tmp_path / "all.parquet")
    assert not [path for path in tmp_path.iterdir() if "parquet" in path.name]


def test_the_name_chooses_the_format_and_a_stream_takes_lines_alone(mine: Engine, tmp_path: Path) -> None:
    formats = {
        "full": ["memory", "memory.jsonl", "m.jsonl.gz"],
        "csv": ["m.csv", "m.csv.zip", "M.CSV"],
        "parquet": ["m.parquet", "M.Parquet.ZIP"],
        "markdown": ["m.zip", "notes/", str(tmp_path), "M.ZIP"],
    }
    assert {name: [format_for(each) for each in names] for name, names in formats.items()} == {
        name: [name] * len(names) for name, names in formats.items()
    }
    with pytest.raises(InvalidInput, match="name a path"):
        export_file(mine, io.BytesIO(), format="csv")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_folder_with_a_link_or_ones_own_tables_is_not_overwritten(mine: Engine, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "other")
    with pytest.raises(Conflict, match="exists already"):
        export_file(mine, folder, format="markdown")
    export_file(mine, tmp_path / "tables.csv")
    (tmp_path / "tables.csv" / "memories.csv").unlink()
    (tmp_path / "tables.csv" / "memories.csv").symlink_to(tmp_path / "other")
    with pytest.raises(Conflict, match=r"memories\.csv"):
        export_file(mine, tmp_path / "tables.csv", overwrite=True)
    export_file(mine, tmp_path / "all.csv")
    (tmp_path / "all.csv" / "my figures.csv").write_text("precious")
    with pytest.raises(Conflict, match=r"my figures\.csv"):
        export_file(mine, tmp_path / "all.csv", overwrite=True)
    assert (tmp_path / "all.csv" / "my figures.csv").read_text() == "precious"
