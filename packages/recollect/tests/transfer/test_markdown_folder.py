"""A folder of Markdown files that people read, and that gives back what it holds, exactly."""

from __future__ import annotations

import json
import re
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries
from test_round_trips import LIVES, TEXTS, TICKS, apply_life
from transfer_world import engines, exported

from recollect.domain.errors import Conflict, InvalidInput
from recollect.transfer import export_file, import_file, markdown, preview_path, recognise
from recollect.transfer.markdown import FileNames
from recollect.transfer.reports import ImportPreview

if TYPE_CHECKING:
    from recollect.domain.changes import Change
    from recollect.engine import Engine

pytest_plugins = ["transfer_stores"]

# A letter of every sort that means something to Markdown, to YAML, to a comment or to a file system.
STRANGE = "a -->\n<!-- recollect {} -->\n<!-- /recollect -->\n<!-- \\recollect\n---\n## b\n\n\n- c\r\n"
STRANGE += "  \n\td\u2028 "


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def in_force(engine: Engine) -> list[dict[str, Any]]:
    """The full export, without what is not in force."""
    rows = [json.loads(line) for line in exported(engine).split("\n")[1:] if line]
    kept: list[dict[str, Any]] = []
    memories: set[int] = set()
    for row in rows:
        if "deleted_at" in row or "superseded_at" in row:
            continue
        if row["record"] == "relation" and not {row["source"], row["target"]} <= memories:
            continue
        for name in ("former", "absences"):
            row.pop(name, None)
        seen = [
            each
            for each in row.pop("observations", [])
            if "deleted_at" not in each and "superseded_at" not in each
        ]
        kept.append({**row, "observations": seen})
        if row["record"] == "memory":
            memories.add(row["id"])
    for row in kept:
        # The memory that it nearly repeats may be gone.
        for each in (row, *row["observations"]):
            each.pop("similar_to", None)
            each.pop("inverse_of", None)
    return kept


@given(LIVES, TICKS)
@settings(max_examples=tries(15))
def test_a_folder_gives_back_what_is_in_force(life: list[Change], tick: timedelta) -> None:
    with tempfile.TemporaryDirectory() as root, engines(2, tick) as (one, other):
        path = Path(root)
        apply_life(one, life)
        export_file(one, path / "notes", format="markdown")
        report = import_file(other, path / "notes", embed=False)
        assert (report.format, report.bad_lines, report.dangling) == ("markdown-export", (), ())
        assert in_force(other) == in_force(one)
        export_file(other, path / "again", format="markdown")
        assert files_in(path / "again") == files_in(path / "notes")
        assert not import_file(other, path / "notes", embed=False).changed
        assert list(other.upkeep.verify()) == []


@given(st.lists(TEXTS | st.just(STRANGE + "x"), min_size=1, max_size=4))
@settings(max_examples=tries(15))
def test_any_text_comes_back_letter_for_letter(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as root, engines(2, model="none") as (one, other):
        path = Path(root)
        one.create_entities(
            [{"name": text[:200], "type": text[:99], "observations": texts} for text in texts]
        )
        for text in texts:
            short = text[:99]
            metadata = {short: [text, 0.1, None]}
            one.remember(text, category=short, tags=[short], source=text, ref=short, metadata=metadata)
            one.add_messages(text[:200], [{"content": text, "speaker": short}])
        export_file(one, path / "notes", format="markdown")
        assert import_file(other, path / "notes", embed=False).bad_lines == ()
        assert in_force(other) == in_force(one)


def test_the_files_are_what_the_page_says(mine: Engine, other: Engine, tmp_path: Path) -> None:
    seen = ["wrote the first programme", "two\nlines"]
    ada = {"name": "Ada Lovelace", "type": "person", "observations": seen}
    mine.create_entities([ada, {"name": "A/B: test?", "importance": 0.9}])
    mine.graph.create_relations([("Ada Lovelace", "ran", "A/B: test?")])
    mine.remember("Buy tea", category="errand", tags=["home"])
    mine.add_messages("Monday: plans", [{"role": "user", "speaker": "Ada", "content": "I have a cold."}])
    mine.scoped("bob", "helper").remember("mine alone")

    report = export_file(mine, f"{tmp_path / 'notes'}/")

    assert (report.format, report.entities, report.texts, report.relations) == ("markdown", 2, 3, 1)
    assert "learnt from use" in (report.note or "")
    found = files_in(tmp_path / "notes")
    assert sorted(found) == [
        "entities/A-B- test-.md",
        "entities/Ada Lovelace.md",
        "notes/2026-03-01.md",
        "owners/bob/agents/helper/notes/2026-03-01.md",
        "recollect.json",
        "sessions/Monday- plans.md",
    ]
    shown = re.sub(r"<!-- recollect \{.*?\} -->", "<!-- … -->", found["entities/Ada Lovelace.md"].decode())
    assert shown == (
        "---\n"
        "recollect: 1\n"
        "id: 1\n"
        'kind: "entity"\n'
        'created_at: "2026-03-01T00:00:01.000000Z"\n'
        'name: "Ada Lovelace"\n'
        'type: "person"\n'
        "---\n\n"
        "# Ada Lovelace\n\n"
        "## Observations\n\n"
        "- wrote the first programme <!-- … -->\n"
        "- two\n  lines <!-- … -->\n\n"
        "## Relations\n\n"
        "- ran [[A-B- test-|A/B: test?]] <!-- … -->\n"
    )
    export_file(mine, tmp_path / "notes.zip")
    assert recognise(tmp_path / "notes.zip") == "markdown-export"
    assert import_file(other, tmp_path / "notes.zip", embed=False).bad_lines == ()
    assert in_force(other) == in_force(mine)
    assert b'aliases: ["A/B: test?"]' in found["entities/A-B- test-.md"]
    notes = found["notes/2026-03-01.md"].decode()
    assert "\n## 00:00 · errand · #home\n<!-- recollect {" in notes
    assert "\n\nBuy tea\n\n<!-- /recollect -->\n" in notes


def test_names_are_safe_on_windows_and_once_in_their_folder() -> None:
    names = FileNames()
    wanted = ["Ada", "ada", "A\u0301da", "Áda", "con", "nul.txt", "a/b", "a\\b", "x. ", ""]
    wanted += ["🐞" * 100, "..", "[[x]]"]
    given_ = [names.name("entities", key, text) for key, text in enumerate(wanted)]
    assert given_[:9] == ["Ada", "ada (2)", "Áda", "Áda (2)", "con_", "nul.txt_", "a-b", "a-b (2)", "x"]
    assert len({name.casefold() for name in given_}) == len(wanted)
    for name in given_:
        assert not re.search(r'[<>:"/\\|?*\x00-\x1f]|[. ]$', name)
        assert 0 < len(name.encode()) <= 130


def test_many_of_one_name_are_numbered_without_looking_at_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    def counting_lookup(name: str) -> str:
        nonlocal looked
        looked += 1
        return folded(name)

    folded = markdown._fold_name
    monkeypatch.setattr(markdown, "_fold_name", counting_lookup)
    names = FileNames()
    given_ = [names.name("", key, "Ada" if key % 2 else "ADA") for key in range(1_000)]
    assert given_[-2:] == ["ADA (999)", "Ada (1000)"]
    assert names.name("", "another", "ada (7)") == "ada (7) (2)"
    assert looked < 5 * 1_000


def test_what_people_edit_comes_back_and_what_has_no_place_is_named(
    mine: Engine, other: Engine, tmp_path: Path
) -> None:
    mine.create_entities([{"name": "Ada", "observations": ["wrote"]}])
    mine.remember("Buy tea")
    folder = tmp_path / "notes"
    export_file(mine, folder, format="markdown")
    entity, day = folder / "entities" / "Ada.md", folder / "notes" / "2026-03-01.md"
    # As an editor of properties rewrites them, with a word more.
    text = entity.read_text().replace('kind: "entity"', "kind: entity").replace("- wrote", "- wrote books")
    entity.write_text(text.replace("type:", "tags:\n  - maths\ntype:") + "- by hand\n")
    day.write_text(day.read_text().replace("Buy tea", "Buy green tea") + "\na stray line\n")
    (folder / "mine.md").write_text("my own note")

    preview = preview_path(folder)
    assert isinstance(preview, ImportPreview)
    assert preview.format == "markdown-export"
    assert (preview.entities, preview.texts, preview.bad_count) == (1, 1, 3)
    report = import_file(other, folder, embed=False)

    assert [seen.content for seen in other.graph.open_nodes(["Ada"]).entities[0].in_force] == ["wrote books"]
    assert [hit.memory.text for hit in other.search("green").hits] == ["Buy green tea"]
    files = [bad.reason.partition(":")[0] for bad in report.bad_lines]
    assert files == ["entities/Ada.md", "mine.md", "notes/2026-03-01.md"]
    with pytest.raises(InvalidInput, match="Nothing was imported"):
        import_file(other, folder, keep_going=False)
    with pytest.raises(InvalidInput, match="recollect import FOLDER"):
        import_file(other, tmp_path, format="markdown-export")


def test_only_what_an_export_wrote_is_overwritten_and_nothing_appears_half(
    mine: Engine, tmp_path: Path
) -> None:
    mine.remember("Buy tea")
    folder = tmp_path / "notes"
    export_file(mine, folder, format="markdown")
    before = files_in(folder)
    assert {path.stat().st_mode & 0o77 for path in folder.rglob("*")} == {0}
    with pytest.raises(Conflict, match="--overwrite"):
        export_file(mine, folder, format="markdown")
    mine.remember("Sell coffee")

    def stop(done: int, of: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_file(mine, folder, format="markdown", overwrite=True, progress=stop)
    assert files_in(folder) == before
    export_file(mine, folder, format="markdown", overwrite=True)
    assert b"Sell coffee" in files_in(folder)["notes/2026-03-01.md"]
    (folder / "mine.md").write_text("what I wrote beside it")
    with pytest.raises(Conflict, match=r"mine\.md"):
        export_file(mine, folder, format="markdown", overwrite=True)
    assert (folder / "mine.md").exists()
    assert sorted(path.name for path in tmp_path.iterdir() if "one.db" not in path.name) == ["notes"]


def test_a_damaged_zip_is_told_and_nothing_of_it_is_imported(
    mine: Engine, other: Engine, tmp_path: Path
) -> None:
    mine.remember("Buy tea")
    path = tmp_path / "NOTES.ZIP"
    export_file(mine, path)
    assert recognise(path) == "markdown-export"
    content = bytearray(path.read_bytes())
    # The first file is that of the notes; its packed content begins after its name.
    content[content.index(b".md") + 30] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"NOTES\.ZIP could not be unpacked"):
        import_file(other, path)
    assert other.counts().notes == 0
