"""Tools show and take what ranking uses: statuses, kinds, contexts, spans; and what they would forget."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from recollect.admin import Internals
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.records import Status
from recollect.operations.catalogue import operations

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import FixedClock

    from recollect.engine import Engine

LEADS = {"from": "Ada", "to": "Tidebook", "relationType": "leads"}


def call(engine: Engine, tool: str, **given: Any) -> Any:
    return operations()[tool].call(engine, given).result


def entity(name: str, *observations: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "entityType": "thing", "observations": list(observations), **more}


@pytest.mark.parametrize(
    ("word", "means"), [("archivado", "archived"), ("Pausada", "paused"), ("completed",) * 2]
)
@pytest.mark.usefixtures("undoubted")
def test_a_status_is_given_on_creation_in_english_or_spanish_and_shown(
    engine: Engine, word: str, means: str
) -> None:
    (written,) = call(engine, "create_entities", entities=[entity("Tidebook", status=word)])["entities"]
    assert written["status"] == means
    assert call(engine, "open_nodes", names=["Tidebook"])["entities"] == [entity("Tidebook", status=means)]
    (hit,) = call(engine, "recall", query="Tidebook")["hits"]
    assert hit["status"] == means
    assert f", {means}" in operations()["recall"].call(engine, {"query": "Tidebook"}).texts()[0]
    call(engine, "set_status", entityName="Tidebook", status="activo")
    assert call(engine, "read_graph")["entities"] == [entity("Tidebook")]
    note = call(engine, "remember", text="Tidebook ships in May")["id"]
    call(engine, "update", id=note, status=word)
    assert engine.get_many([note])[note].status is Status(means)
    with pytest.raises(InvalidInput, match=r"`entities.0.status`: 'dormido': no status; say active, paused"):
        call(engine, "create_entities", entities=[entity("Other", status="dormido")])


def test_kinds_of_observations_are_taken_on_creation_shown_and_chosen(engine: Engine) -> None:
    config = {"content": "port 7438", "kind": "metadata"}
    call(engine, "create_entities", entities=[entity("Ada", "sails", config)])
    fact = {"content": "rows", "kind": "fact"}
    call(engine, "add_observations", observations=[{"entityName": "Ada", "contents": [fact]}])
    assert call(engine, "open_nodes", names=["Ada"])["entities"] == [entity("Ada", "sails", config, fact)]
    chosen = call(engine, "open_nodes", names=["Ada"], kinds=["metadata", "generic"])
    assert chosen["entities"] == [entity("Ada", "sails", config)]
    # An answer's rows are valid arguments.
    call(engine, "delete_entities", entityNames=["Ada"])
    written = call(engine, "create_entities", entities=[entity("Ada", "sails", config, fact)])
    assert written["entities"] == [entity("Ada", "sails", config, fact)]


def test_what_was_corrected_and_what_has_ended_is_shown_where_it_is_asked_for(
    engine: Engine, clock: FixedClock
) -> None:
    call(engine, "create_entities", entities=[entity("Ada", "sails"), entity("Tidebook")])
    call(engine, "create_relations", relations=[LEADS])
    clock.tick(60)
    newer = {"content": "sails on Sundays", "supersedes": "sails"}
    call(engine, "add_observations", observations=[{"entityName": "Ada", "contents": [newer]}])
    call(engine, "end_relation", **LEADS)
    plain = call(engine, "open_nodes", names=["Ada"])
    assert plain == {"entities": [entity("Ada", "sails on Sundays")], "relations": []}
    former = {"content": "sails", "superseded_at": "2026-03-01T12:01:00+00:00"}
    assert call(engine, "open_nodes", names=["Ada"], include_superseded=True) == {
        "entities": [entity("Ada", former, "sails on Sundays")],
        "relations": [{**LEADS, "until": "2026-03-01T12:01:00+00:00"}],
    }


def test_a_relation_has_a_context_and_a_span_and_is_counted_until_it_ends(
    engine: Engine, clock: FixedClock
) -> None:
    span = {"since": "2026-01-01T00:00:00+00:00", "until": "2026-03-02T00:00:00+00:00"}
    whole = {**LEADS, "context": "while Bo is away", **span}
    assert call(engine, "create_relations", relations=[whole])["relations"] == [whole]
    assert call(engine, "open_nodes", names=["Ada"])["relations"] == [whole]
    for count in (1, 0):
        assert (call(engine, "stats")["store"]["relations"], engine.counts().relations) == (count, count)
        clock.tick(86_400)


def test_pages_of_observations_with_kinds_join_to_the_whole(engine: Engine) -> None:
    facts = [{"content": f"day {n}: {'calm sea ' * 5}", "kind": "log"} for n in range(40)]
    engine.create_entities([{"name": "Log", "type": "thing", "observations": facts}])
    seen: list[Any] = []
    page: dict[str, Any] = {"cursor": None}
    while "cursor" in page:
        page = call(engine, "open_nodes", names=["Log"], budget_tokens=200, cursor=page["cursor"])
        seen += page["entities"][0]["observations"]
    assert seen == facts


def test_reflections_are_about_sessions_and_relations(engine: Engine) -> None:
    call(engine, "add_messages", session="tea", messages=[{"content": "Hello"}], extract=False)
    call(engine, "create_relations", relations=[LEADS])
    call(engine, "add_reflection", content="The talk was too long", session="tea")
    call(engine, "add_reflection", content="The talk of leading went well", relation=LEADS)
    (of_session,) = call(engine, "search_reflections", query="talk", session="tea")["results"]
    assert (of_session["text"], of_session["session"]) == ("The talk was too long", "tea")
    (of_relation,) = call(engine, "search_reflections", query="talk", relation=LEADS)["results"]
    assert of_relation["text"] == "The talk of leading went well"
    assert of_relation["relation"] == "Ada leads Tidebook"
    about = call(engine, "search_reflections", query="talk", about="Tidebook")["results"]
    assert [row["id"] for row in about] == [of_relation["id"]]
    with pytest.raises(NotFound, match="no session named 'coffee'"):
        call(engine, "add_reflection", content="Nothing", session="coffee")
    wrong = {**LEADS, "from": "Tidebook", "to": "Ada"}
    with pytest.raises(NotFound, match="no relation 'Tidebook' leads 'Ada'"):
        call(engine, "add_reflection", content="Nothing", relation=wrong)


def test_migrate_is_the_import(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    rows = [
        {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["sails"]},
        {"type": "relation", **LEADS},
    ]
    file.write_text("\n".join([*map(json.dumps, rows), "secret, and no JSON"]))
    done = call(engine, "migrate", source_path=str(file))
    assert (done["entities"], done["observations"], done["relations"], done["bad_lines"]) == (1, 1, 1, [3])
    assert "secret" not in json.dumps(done)
    again = call(engine, "migrate", source_path=str(file))
    assert (again["entities"], again["observations"], again["relations"], again["known"]) == (0, 0, 0, 1)
    for wrong in (tmp_path / "nowhere.jsonl", tmp_path, "\0"):
        with pytest.raises(InvalidInput, match=r"cannot be read|There is no file|is a folder"):
            call(engine, "migrate", source_path=str(wrong))


def test_forget_by_a_query_shows_what_it_would_forget_and_forgets_nothing(engine: Engine) -> None:
    engine.remember("Ada sails on Sundays")
    engine.remember("The boiler was serviced")
    asked = operations()["forget"].call(engine, {"query": "when does Ada sail?"})
    assert asked.result["forgotten"] == []
    assert asked.result["would_forget"][0] == {"id": 1, "kind": "note", "text": "Ada sails on Sundays"}
    assert asked.texts()[0].startswith("#1 [note ")
    assert asked.texts()[1].startswith("Nothing was forgotten yet")
    assert Internals(engine).count_memories()[engine.get_many([1])[1].kind] == 2
    assert call(engine, "forget", ids=[1])["forgotten"] == [1]
    assert "would_forget" not in call(engine, "forget", ids=[1])
    with pytest.raises(InvalidInput, match="either `ids`, or a `query`"):
        call(engine, "forget", ids=[1], query="Ada")


def test_update_changes_what_is_given_and_keeps_the_former_text(engine: Engine) -> None:
    note = call(engine, "remember", text="Ada sails", tags=["boats"], importance=0.2)["id"]
    assert call(engine, "update", id=note, text="Ada rows", pinned=True) == {"id": note}
    changed = engine.get_many([note])[note]
    assert (changed.text, changed.tags, changed.importance, changed.pinned) == (
        "Ada rows",
        ("boats",),
        0.2,
        True,
    )
    assert [former.text for former in changed.former] == ["Ada sails"]
    with pytest.raises(NotFound, match="shows ids after #"):
        call(engine, "update", id=99, text="Nobody")


def test_the_text_of_recall_carries_time_confidence_and_what_is_newer(
    engine: Engine, clock: FixedClock
) -> None:
    engine.remember("Ana lives in Lisbon")
    clock.tick(400 * 86_400 + 90 * 60)
    engine.remember("Ana lives in Porto now")
    reply = operations()["recall"].call(engine, {"query": "where does Ana live?", "limit": 2})
    first, second = reply.texts()[0].splitlines()[:2]
    percent = f"{reply.result['hits'][0]['confidence']:.0%}".replace("%", " %")
    assert (
        first == f'#2 [note 2027-04-05 13:30 UTC, {percent} likely] "Ana lives in Porto now" (newer than #1)'
    )
    assert second.startswith("#1 [note 2026-03-01 12:00 UTC, ")
    assert second.endswith('"Ana lives in Lisbon" (older than #2)')
    alone = operations()["recall"].call(engine, {"query": "does Ana live in Lisbon?", "limit": 1})
    # The one that is not a hit is quoted.
    assert re.search(r'than #\d "Ana lives in ', alone.texts()[0])
    # A date without a time is shown as a date.
    call(engine, "remember", text="Bo moved", happened_at="2026-02-01")
    assert "[note 2026-02-01, " in operations()["recall"].call(engine, {"query": "Bo moved"}).texts()[0]


@pytest.mark.usefixtures("undoubted")
def test_a_note_that_expires_says_when_and_is_gone_from_then_on(engine: Engine, clock: FixedClock) -> None:
    until = "2026-03-01T13:00:00+00:00"
    note = call(engine, "remember", text="The gate is open", expires_at=until)["id"]
    (hit,) = call(engine, "recall", query="gate")["hits"]
    assert hit["expires_at"] == until
    assert call(engine, "list_memories")["memories"][0]["expires_at"] == until
    clock.tick(3600)
    assert call(engine, "recall", query="gate")["hits"] == []
    assert call(engine, "list_memories")["memories"] == []
    assert call(engine, "recall", query="gate", as_of="2026-03-01T12:30:00Z")["hits"][0]["id"] == note
    call(engine, "update", id=note, expires_at="2026-03-02")
    assert call(engine, "recall", query="gate")["hits"][0]["id"] == note
    call(engine, "update", id=note, expires_at="never")
    assert "expires_at" not in call(engine, "recall", query="gate")["hits"][0]
    with pytest.raises(InvalidInput, match="no time in ISO 8601"):
        call(engine, "update", id=note, expires_at="forever")


def test_a_session_that_is_not_there_is_told_with_a_tool_that_shows_those_that_are(engine: Engine) -> None:
    call(engine, "add_messages", session="tea", messages=[{"role": "user", "content": "It is green"}])
    with pytest.raises(
        NotFound, match=r"no session named 'coffee'; `list_memories` with `kinds` \[message\]"
    ):
        call(engine, "clear_session", session="coffee")
    (message,) = call(engine, "list_memories", kinds=["message"])["memories"]
    assert message["session"] == "tea"
