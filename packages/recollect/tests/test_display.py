"""Results in a Python prompt, a notebook and a data frame."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import recollect
from recollect.domain.errors import InvalidInput
from recollect.domain.results import ConflictingMemory
from recollect.plugin import effect_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect import Engine

MAY = datetime(2026, 5, 1, tzinfo=UTC)
HARBOUR = "Ana works at the harbour office,\nnext to <b>the pier</b>, and takes the ferry every morning"


@pytest.fixture
def harbour(engine: Engine) -> Engine:
    engine.remember(HARBOUR, happened_at=MAY, tags="work")
    engine.remember("Ana plays the cello")
    return engine


def test_an_answer_is_a_sequence_of_its_hits(harbour: Engine) -> None:
    answer = harbour.recall("Ana at the harbour office", limit=2)
    assert len(answer) == 2
    assert list(answer) == [answer[0], answer[1]] == list(answer.hits)
    assert (answer[-1], answer[:1]) == (answer.hits[-1], answer.hits[:1])
    assert answer[0] in answer
    assert {*answer, answer[0]} == {*answer}


def test_an_answer_is_true_if_a_hit_seems_to_answer(harbour: Engine) -> None:
    # Fewer than five texts do not show which cosines of an unknown model are high.
    harbour.remember_many(["Otto repairs clocks", "The ferry leaves at nine", "Lena studies law"])
    assert harbour.recall("Ana at the harbour office")
    nearest = replace(harbour.recall("Ana"), confidence=0.05)
    assert len(nearest) > 0
    assert nearest.doubtful
    assert not nearest
    assert not harbour.recall("Ana", kinds="message")


@pytest.mark.usefixtures("undoubted")
def test_results_print_in_one_short_line(harbour: Engine) -> None:
    answer = harbour.recall("Ana at the harbour office", limit=2)
    assert len(repr(answer)) < 300
    assert repr(answer).startswith("Answer(query='Ana at the harbour office', confidence=0.")
    first = harbour.get(1)
    assert repr(first) == (
        "Memory(id=1, kind='note', "
        "text='Ana works at the harbour office,\\nnext to <b>the pier</b>, a…', date=2026-05-01)"
    )
    harbour.create_entities([{"name": "Ana", "observations": ["Speaks Portuguese"]}])
    assert "kind='entity', text='Ana: Speaks Portuguese'" in repr(harbour.graph.read_graph())
    for report in (harbour.counts(), harbour.history(1), harbour.list(), harbour.browse.memory(1)):
        assert repr(report).startswith(f"{type(report).__name__}(")
        assert len(repr(report)) < 1_000


def test_printing_an_answer_shows_a_table_with_one_line_for_each_hit(harbour: Engine) -> None:
    summary, head, first, second = str(harbour.recall("Ana at the harbour office", limit=2)).splitlines()
    assert summary.startswith("query: Ana at the harbour office, confidence: 0.")
    assert head.split() == ["score", "confidence", "id", "kind", "text", "date"]
    assert "note  Ana works at the harbour office, next to" in first
    assert "Ana plays the cello" in second


def test_a_notebook_shows_a_table_with_escaped_texts(harbour: Engine) -> None:
    shown = harbour.recall("Ana at the harbour office", limit=2)._repr_html_()
    assert shown.count("<tr>") == 3
    assert "next to &lt;b&gt;the pier&lt;/b&gt;, and" in shown
    assert "<b>" not in shown
    assert harbour.counts()._repr_html_().count("<tr>") > 6  # a report: one line for each field
    hit = harbour.recall("Ana at the harbour office")[0]
    assert hit._repr_html_().count("<tr>") == hit.memory._repr_html_().count("<tr>") == 2


def test_a_notebook_shows_the_steps_of_a_score_and_lists_line_by_line(harbour: Engine) -> None:
    answer = harbour.recall("Ana at the harbour office", limit=2, explain=True)
    for shown in (answer._repr_html_(), answer[0]._repr_html_()):
        assert f">{effect_text(answer[0].reasons[0])}</td>" in shown
        assert "<p>steps that changed nothing: " in shown
    other = harbour.remember("Ana works at the town hall")
    conflicts = tuple(ConflictingMemory(id_, f"<{id_}>", is_newer=True) for id_ in (1, 2))
    assert ">&lt;1&gt;<br>&lt;2&gt;</td>" in replace(other, contradicts=conflicts)._repr_html_()
    why = harbour.why_not("Who plays the violin in Rome?", 1)._repr_html_()
    assert "(" not in why.replace(HARBOUR, "")


def test_results_become_plain_values_for_json_and_data_frames(harbour: Engine) -> None:
    harbour.create_entities([{"name": "Ana", "observations": ["Speaks Portuguese"]}])
    assert harbour.recall("Ana", kinds="entity").to_dicts()[0]["text"] == "Ana: Speaks Portuguese"
    first, *_ = rows = harbour.recall("Ana at the harbour office", limit=2, explain=True).to_dicts()
    assert json.loads(json.dumps(rows)) == rows
    assert (first["id"], first["kind"], first["owner"], first["tags"]) == (1, "note", "", ["work"])
    assert first["happened_at"] == "2026-05-01T00:00:00+00:00"
    assert rows[0].keys() == rows[1].keys() >= {"score", "confidence", "text", "created_at"}
    results = (
        harbour.context("Ana"), harbour.list(), harbour.graph.read_graph(), harbour.counts(),
        harbour.history(1), harbour.remember("Ana plays the cello"), harbour.browse.memory(1),
        harbour.why_not("cello", 1), harbour.dream(dry_run=True), harbour.upkeep.store_state(),
    )  # fmt: skip
    for result in results:
        assert json.dumps(result.to_dict()).startswith("{")


@pytest.mark.usefixtures("undoubted")
def test_a_context_prints_as_the_text_to_give_to_an_agent(harbour: Engine) -> None:
    context = harbour.context("Ana at the harbour office")
    assert str(context) == context.text
    assert [item.id for item in context][:1] == [1]
    assert context
    assert not harbour.scoped("someone else").context("Ana at the harbour office")


def test_a_memory_prints_its_store_and_scope_and_never_a_password(harbour: Engine) -> None:
    from types import SimpleNamespace

    from recollect.stores.url import parse_store_url
    from recollect.write.repository import Repository

    shown = repr(harbour.scoped("ada"))
    assert shown.startswith("Engine(store='")
    assert shown.endswith("scope=Scope(owner='ada', agent=''))")
    assert repr(harbour.scoped("ada").graph) == shown.replace("Engine", "KnowledgeGraph")
    assert repr(recollect.open(":memory:")).startswith("Engine(store=':memory:', ")
    nothing = dict.fromkeys(("read", "size", "version", "backup", "compact", "close", "verify", "repair"))
    store = SimpleNamespace(location=parse_store_url("postgresql://ada:hush@host/db"), **nothing)
    assert Repository(store).place == "postgresql://ada@host/db"


def test_a_single_value_stands_for_a_list_of_one(harbour: Engine) -> None:
    assert [hit.memory.id for hit in harbour.recall("Ana", kinds="note", tags="work")] == [1]
    assert [memory.id for memory in harbour.list(kinds="note", tags="work")] == [1]
    harbour.create_entities(["Ana"])
    harbour.remember("She is on leave", about="Ana", tags="work")
    assert [entity.name for entity in harbour.graph.open_nodes("Ana")] == ["Ana"]
    harbour.graph.add_observations({"Ana": "Speaks Portuguese"})
    assert harbour.graph.delete_observations({"Ana": "Speaks Portuguese"}) == 1
    assert harbour.forget(2) == (2,)
    with pytest.raises(InvalidInput, match="There is no kind 'notes'; the kinds are: entity, note, message"):
        harbour.recall("Ana", kinds="notes")
    with pytest.raises(InvalidInput, match="No phase named 'sleep'; there are: "):
        harbour.dream(phases="sleep")


def test_a_value_of_a_wrong_type_is_an_error_of_ours_and_changes_nothing(harbour: Any) -> None:
    wrong: tuple[Callable[[], object], ...] = (
        lambda: harbour.update("1", text="x"), lambda: harbour.get("1"), lambda: harbour.list(session=5),
        lambda: harbour.purge(MAY.date()), lambda: harbour.upkeep.settling.page("old"),
        lambda: harbour.recall("x", profile=5), lambda: harbour.browse.page(5),
        lambda: harbour.update(1, pinned="yes"),
    )  # fmt: skip
    for call in wrong:
        with pytest.raises(recollect.RecollectError, match=r"whole|list|(text|time), not|Filter|[Nn]o |True"):
            call()
    assert harbour.get(1).text == HARBOUR


def test_the_version_and_the_asynchronous_memory_need_no_import_of_their_own() -> None:
    assert recollect.__version__.count(".") == 2
    assert recollect.aio.open.__module__.startswith("recollect.aio")
