"""basic-memory's folder of Markdown, written as its tools write it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from transfer_world import import_foreign

from recollect.engine import Engine
from recollect.transfer import recognise

pytest_plugins = ["transfer_stores"]

ANA = """---
title: Ana Reis
type: person
permalink: main/people/ana-reis
tags:
- harbour
- '2024'
status: on leave
address:
  city: Porto
created: 2024-05-01T10:00:00+02:00
---

# Ana Reis

She came by boat, and wrote [[tide-book|the book]].

## Observations
- [diet] Ana is allergic to walnuts #health (told in May)
- a plain item with a #loose tag
- [ ] ask her again #later
- [00:12] a line of a transcript

```
- [code] is no observation
```

## Relations
- writes [[Tidebook]] (at night)
- 'is sister of' [[Inés]]
- she knows [[main/people/bo]] well
"""
TIDEBOOK = "---\ntitle: Tidebook\ntype: project\npermalink: main/tide-book\n---\n\n# Tidebook\n"
BO = "---\ntitle: Ana Reis\ntype: note\npermalink: main/people/bo\ntags: [a, b]\n---\n- [fact] is Bo\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "notes"
    for name, text in (("people/ana.md", ANA), ("Tidebook.md", TIDEBOOK), ("people/bo.md", BO)):
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        os.utime(file, (1_717_200_000, 1_717_200_000))  # 2024-06-01
    (place / "plan.canvas").write_text("{}", "utf-8")
    return place


def test_observations_relations_times_and_tags_come_along(mine: Engine, folder: Path) -> None:
    assert recognise(folder) == "basic-memory"
    assert recognise(folder / "Tidebook.md") == "basic-memory"
    report = import_foreign(mine, folder)
    assert (report.entities, report.notes, report.bad_count, report.also_created) == (3, 1, 0, ("Inés",))
    assert [(each.what, each.examples) for each in report.no_place] == [
        ("files that are not Markdown", ("plan.canvas",)),
        ("front matter other than texts and lists", ("address",)),
    ]

    graph = mine.graph.open_nodes(["Ana Reis", "Tidebook", "main/people/bo", "Inés"])
    ana, tidebook, bo, _ = graph.entities
    assert [(each.kind, each.content) for each in ana.observations] == [
        ("metadata", "status: on leave"),
        ("diet", "Ana is allergic to walnuts #health (told in May)"),
        ("note", "a plain item with a #loose tag"),
    ]
    assert (ana.type, bo.tags) == ("person", ("a", "b"))
    assert set(ana.tags) == {"harbour", "2024", "health", "loose"}
    assert ana.created_at.isoformat() == "2024-05-01T08:00:00+00:00"
    assert ana.updated_at.isoformat() == tidebook.created_at.isoformat() == "2024-06-01T00:00:00+00:00"
    assert {(each.source_name, each.type, each.target_name, each.context) for each in graph.relations} == {
        ("Ana Reis", "links_to", "Tidebook", ""),  # by its permalink
        ("Ana Reis", "writes", "Tidebook", "at night"),
        ("Ana Reis", "is sister of", "Inés", ""),
        ("Ana Reis", "links_to", "main/people/bo", ""),
    }
    (note,) = mine.list().memories
    assert note.about == (ana.id,)
    assert "She came by boat" in (note.text or "")
    assert "is no observation" in (note.text or "")
    assert "walnuts" not in (note.text or "")


def test_importing_again_changes_nothing_and_a_later_state_adds_what_is_new(
    mine: Engine, folder: Path
) -> None:
    import_foreign(mine, folder)
    assert not import_foreign(mine, folder).changed
    (folder / "Tidebook.md").write_text(TIDEBOOK + "- [fact] is a diary\n", "utf-8")
    later = import_foreign(mine, folder)
    assert (later.observations_new, later.entities_new, later.relations_new) == (1, 0, 0)


def test_other_folders_of_markdown_are_not_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / "post.md").write_text("---\ntitle: A post\npermalink: /a-post/\n---\nWords.\n", "utf-8")
    (tmp_path / "day.md").write_text("# Monday\n\n- [ ] a task #home\n", "utf-8")
    assert recognise(tmp_path) == "markdown"
