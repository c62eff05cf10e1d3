"""Forms of Memory, Browse and Why not: accepted input and error messages, without a browser."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from browser import NOW, Clock, fill
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

import recollect
from recollect.admin import Internals
from recollect.operations.catalogue import SETS
from recollect.ranking.candidates import Reason
from recollect_server.access_policy import AccessPolicy
from recollect_server.app import app
from recollect_server.web.memory import word_diff
from recollect_server.web.recall import step_gaps
from recollect_server.web.templating import _environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.engine import Engine

BASE = "http://127.0.0.1:8377"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    clock, path = Clock(), tmp_path_factory.mktemp("forms") / "memory.db"
    with recollect.open(path, model="hashing", clock=clock) as opened:
        fill(opened, clock)
        yield opened


@pytest.fixture(scope="module")
def client(memory: Engine) -> TestClient:
    return TestClient(app(lambda: memory, SETS["all"], AccessPolicy("127.0.0.1", 8377, None)), BASE)


def posted(client: TestClient, path: str, **fields: str) -> tuple[int, str]:
    """With what protects a form, which every page of ours carries."""
    page = client.get("/browse")
    found = page.text.partition('name="csrf" value="')[2].partition('"')[0]
    answer = client.post(path, data={"csrf": found, **fields}, headers={"origin": BASE})
    return answer.status_code, answer.text


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/memory/0x10", 404, "an id is a number"),
        ("/memory/999999", 404, "There is no memory 999999"),
        ("/browse?order=upwards", 400, "Choose one of: newest, oldest"),
        ("/browse?kind=dream", 400, "Choose one of: note, entity"),
        ("/browse?cursor=zebra", 400, "There is no page"),
        ("/browse?kind=tags&cursor=zebra", 400, "Go back to the first page"),
        ("/browse?since=someday", 400, "is not a date. Write it as 2026-03-01"),
        ("/browse?entity=Ana", 400, "write the id of an entity"),
        ("/browse?words=" + 501 * "a", 400, "at most 500 characters"),
        ("/why-not?q=ferry&id=424242", 404, "There is no memory #424242"),
        ("/why-not?q=ferry&memory=" + 501 * "a", 400, "at most 500 characters"),
        ("/why-not?q=ferry&memory=zeppelin", 200, "Which one?"),
    ],
)
def test_a_wrong_address_gets_a_page_that_says_what_to_write(
    client: TestClient, path: str, status: int, said: str
) -> None:
    answer = client.get(path)
    assert (answer.status_code, said in answer.text) == (status, True)


@pytest.mark.parametrize(
    ("path", "fields", "status", "said"),
    [
        ("/browse/forget", {}, 400, "No memory is selected"),
        ("/browse/forget", {"id": "4,x"}, 400, "by their ids. Nothing was changed"),
        ("/browse/forget", {"id": ",".join(map(str, range(1, 52)))}, 400, "Select at most 50"),
        ("/browse/undo-restore", {"superseded": "4-5"}, 400, "pairs of ids"),
        ("/memory/4/edit", {"importance": "high"}, 400, "a number from 0 to 1"),
        ("/memory/4/edit", {"importance": "7"}, 400, "importance"),
        ("/memory/4/edit", {"happened_at": "soon"}, 400, "is not a time"),
        ("/memory/4/edit", {"wording": "3"}, 400, "no former text"),
        ("/memory/4/edit", {"text": "New", "version": "0000"}, 409, "was changed since you read it"),
        ("/memory/4/supersede", {"text": " "}, 400, "Write the correct text"),
        ("/memory/4/observations", {"change": "add", "content": "x"}, 400, "is not an entity"),
        ("/memory/1/observations", {"change": "shout"}, 400, "add, correct, remove"),
        ("/memory/1/observations", {"change": "remove", "observation": "99"}, 404, "no longer exists"),
        ("/memory/999/pin", {"pinned": "1"}, 404, "no memory 999"),
        ("/memory/4/purge", {"word": "destroy"}, 400, "Nothing was purged"),
    ],
)
def test_a_wrong_form_changes_nothing_and_says_why(
    client: TestClient, memory: Engine, path: str, fields: dict[str, str], status: int, said: str
) -> None:
    before = Internals(memory).version()
    code, text = posted(client, path, **fields)
    assert (code, said in text) == (status, True), text
    assert Internals(memory).version() == before


def test_a_form_leads_back_only_to_pages_of_ours(client: TestClient, memory: Engine) -> None:
    note = memory.remember("The tide table hangs in the hall.").id
    page = client.get("/browse")
    token = page.text.partition('name="csrf" value="')[2].partition('"')[0]
    for back, leads in (("//evil.example/browse", "/browse"), ("/browse?tag=a", "/browse?tag=a")):
        fields = {"csrf": token, "id": str(note), "back": back}
        path = "/browse/restore" if memory.get(note).deleted_at else "/browse/forget"  # type: ignore[union-attr]
        answer = client.post(path, data=fields, headers={"origin": BASE}, follow_redirects=False)
        assert answer.headers["location"] == leads


def test_what_a_memory_says_cannot_become_part_of_a_page(client: TestClient, memory: Engine) -> None:
    text = "<script>alert(1)</script> </textarea><img src=x onerror=alert(2)> \u202egnp"
    note = memory.remember(text, tags=["<b>"], category='"><i>').id
    memory.update(note, text=f"{text} again")
    for path in (f"/memory/{note}", f"/memory/{note}/purge", "/browse", f"/why-not?q=script&id={note}"):
        body = client.get(path).text
        assert "<script>alert" not in body
        assert "<img src=x" not in body
        assert '"><i>' not in body
        # Only the edit field shows the text unescaped.
        assert "\u202e" not in body.replace("\u202egnp again</textarea>", "")


def test_an_edit_keeps_to_what_was_changed_and_is_taken_back_whole(
    client: TestClient, memory: Engine
) -> None:
    note = memory.remember(
        "The pilot boat sails at nine.", category="plans", tags=["a, b", "c"], importance=0.123
    ).id
    code, text = posted(
        client,
        f"/memory/{note}/edit",
        text="The pilot boat sails at ten.",
        category="",
        tags="c",
        importance="0.12",
    )
    assert code == 200
    assert f"Saved #{note}: text, category, tags." in text
    changed = memory.get(note)
    assert changed is not None
    assert (changed.category, changed.tags, changed.importance) == (None, ("c",), 0.123)
    undo = text.partition("data-undo")[0].rpartition("<form")[2]
    fields = {
        part.partition('"')[0]: part.partition('value="')[2].partition('"')[0]
        for part in undo.split('name="')[1:]
    }
    answer = client.post(f"/memory/{note}/edit", data=fields, headers={"origin": BASE})
    assert answer.status_code == 200
    back = memory.get(note)
    assert back is not None
    assert (back.text, back.category, set(back.tags)) == (
        "The pilot boat sails at nine.",
        "plans",
        {"a, b", "c"},
    )


# Arithmetic and diffs


@given(st.text("ab \n.", max_size=40), st.text("ab \n.", max_size=40))
def test_a_diff_holds_both_wordings_whole(before: str, after: str) -> None:
    spans = word_diff(before, after)
    assert "".join(span.text for span in spans if span.kind != "added") == before
    assert "".join(span.text for span in spans if span.kind != "removed") == after


def test_points_add_up_to_the_difference_of_two_scores() -> None:
    own = (Reason("words", "plus", 0.2, (), 0.2), Reason("recency", "times", 0.5, (), 0.1))
    other = (Reason("words", "plus", 0.3, (), 0.3), Reason("recency", "times", 1.0, (), 0.3))
    gaps = step_gaps(own, other)
    # words: 0.2 - 0.3 = -0.1     recency: (0.1 - 0.3) - (-0.1) = -0.1     in all: 0.1 - 0.3
    assert [gap.points for gap in gaps] == pytest.approx([-0.1, -0.1])
    assert sum(gap.points for gap in gaps) == pytest.approx(0.1 - 0.3)
    assert [(gap.x, gap.width) for gap in gaps] == [(0.0, 50.0), (0.0, 50.0)]


def test_a_note_is_corrected_by_one_that_is_there_and_the_undo_keeps_both(
    client: TestClient, memory: Engine
) -> None:
    wrong = memory.remember(
        "The lighthouse tour starts at nine on Sundays", happened_at=datetime(2025, 1, 5, tzinfo=UTC)
    )
    right = memory.remember(
        "The lighthouse tour starts at eleven on Sundays now", happened_at=datetime(2026, 3, 1, tzinfo=UTC)
    )
    try:
        assert f"Replace it by #{right.id}" in client.get(f"/memory/{wrong.id}").text
        assert f"Let it replace #{wrong.id}" in client.get(f"/memory/{right.id}").text
        status, page = posted(client, f"/memory/{wrong.id}/supersede", by=str(right.id))
        assert (status, f"#{right.id} now replaces #{wrong.id}." in page) == (200, True)
        retired = memory.get(wrong.id)
        assert retired is not None
        assert retired.superseded_by == right.id
        undone, _ = posted(client, f"/memory/{wrong.id}/undo-supersede", retired=str(wrong.id))
        assert undone == 200
        kept = [memory.get(each.id) for each in (wrong, right)]
        assert all(each and not each.deleted_at and not each.superseded_at for each in kept)
        assert posted(client, f"/memory/{wrong.id}/supersede", by="999999")[0] == 404
    finally:
        memory.forget([wrong.id, right.id])


def test_lists_show_every_field_declared_for_notes(
    memory: Engine, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("Bo came third", source="his diary")
    monkeypatch.setitem(_environment().globals, "note_fields", {"source": "stands for a declared field"})
    assert "<span>source: his diary</span>" in client.get("/browse").text


def test_a_note_an_entity_and_a_relation_are_added_and_each_is_undone(
    client: TestClient, memory: Engine
) -> None:
    def undo(page: str) -> str:
        form = page.partition('class="notice good"')[2].partition("</form>")[0]
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
        return posted(client, re.findall(r'action="([^"]+)"', form)[0], **fields)[1]

    happened = "2025-03-14T10:00"
    code, page = posted(
        client, "/add", kind="note", text="The ferry has a bell.", tags="ferry, bell", happened_at=happened
    )
    (note,) = memory.list(tags=["bell"]).memories
    assert (code, f"Added note #{note.id}." in page) == (200, True)
    assert (set(note.tags), note.happened_at is not None) == ({"ferry", "bell"}, True)
    assert "Forgotten on" in undo(page)

    _, page = posted(
        client, "/add", kind="entity", name="Ines", type="person", observations="Brings coffee\n\nRows"
    )
    (ines,) = memory.graph.open_nodes(["Ines"]).entities
    assert ([each.content for each in ines.in_force], ines.type) == (["Brings coffee", "Rows"], "person")

    relation = {"kind": "relation", "source": "Ines", "type": "owns", "target": "Blue canoe"}
    code, page = posted(client, "/add", **relation)
    assert (code, "Blue canoe" in page, 'value="owns"' in page) == (
        400,
        True,
        True,
    )  # the form keeps its values
    _, page = posted(client, "/add", **relation, create_missing="1")
    assert [each.type for each in memory.graph.open_nodes(["Ines"]).relations] == ["owns"]
    assert "Removed the relation Ines owns Blue canoe." in undo(page)
    assert memory.graph.open_nodes(["Ines"]).relations == ()
    assert memory.graph.open_nodes(["Blue canoe"]).entities == ()


def test_a_past_view_names_what_happened_before_but_was_stored_later(
    client: TestClient, memory: Engine
) -> None:
    late = memory.remember("The regatta cup was won in Vigo.", happened_at=NOW - timedelta(days=40)).id
    page = client.get("/recall?q=regatta+cup+won&as_of=2026-05-25").text
    told = page.partition("stored later, so an agent could not know it then")[2].partition("</ul>")[0]
    assert f'href="/memory/{late}"' in told
    assert "happened 2026-05-01, stored 2026-06-10" in told
    assert "It happened on 2026-05-01" in client.get(f"/memory/{late}?as_of=2026-05-25").text
    memory.forget([late])


def test_why_not_offers_the_last_questions(client: TestClient, memory: Engine) -> None:
    for _ in range(2):
        memory.recall("who brings the coffee?")
    page = client.get("/why-not").text
    assert page.count("who brings the coffee?") == 1
    assert 'href="/why-not?q=who+brings+the+coffee%3F"' in page
