"""CrewAI: a storage for its memory, beside the one that comes with it, and behind a crew."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.memory.storage.backend import EmbeddingDimensionMismatchError, StorageBackend
from crewai.memory.storage.lancedb_storage import LanceDBStorage
from crewai.memory.types import MemoryRecord
from pages import check_page

import recollect
from recollect.domain.errors import InvalidInput
from recollect_integrations.crewai import RecollectStorage

NOON = datetime(2026, 5, 1, 12)  # noqa: DTZ001  # as CrewAI writes its times


@pytest.fixture
def memory() -> Iterator[recollect.Engine]:
    with recollect.open(":memory:", model="hashing") as engine:
        yield engine


@pytest.fixture
def storage(memory: recollect.Engine) -> RecollectStorage:
    return RecollectStorage(memory)


def records() -> list[MemoryRecord]:
    """Each with a vector of its own; the first two are alike."""
    made: list[tuple[str, str, list[str], dict[str, Any], list[float]]] = [
        ("a", "/crew/research", ["fact"], {"of": "Ana", "n": [1, {"x": None}]}, [1.0, 0.0, 0.0]),
        ("b", "/crew/research/deep", ["fact", "plan"], {"of": "Bo"}, [0.8, 0.6, 0.0]),
        ("c", "/crew/writing", ["plan"], {"of": "Ana"}, [0.0, 1.0, 0.0]),
        ("d", "/other", [], {}, [0.0, 0.0, 1.0]),
    ]
    return [
        MemoryRecord(
            id=id_,
            content=f"What {id_} says",
            scope=scope,
            categories=categories,
            metadata=metadata,
            importance=0.1 + place / 10,
            created_at=NOON + timedelta(days=place),
            last_accessed=NOON,
            embedding=vector,
            source="user-1" if id_ == "a" else None,
            private=id_ == "a",
        )
        for place, (id_, scope, categories, metadata, vector) in enumerate(made)
    ]


def whole(record: MemoryRecord | None) -> dict[str, Any] | None:
    return None if record is None else {**record.model_dump(), "embedding": record.embedding}


def test_records_come_back_as_they_were(storage: RecollectStorage) -> None:
    assert isinstance(storage, StorageBackend)
    storage.save(records())
    for record in records():
        found = storage.get_record(record.id)
        assert found is not None
        assert found.embedding == pytest.approx(record.embedding)
        assert found.model_dump() == record.model_dump()
    assert storage.get_record("x") is None


@pytest.mark.parametrize(
    "ask",
    [
        lambda storage: [record.id for record in storage.list_records()],
        lambda storage: [record.id for record in storage.list_records("/crew", limit=1, offset=1)],
        lambda storage: storage.list_records(limit=0) + storage.list_records(offset=-1),
        lambda storage: storage.list_scopes(),
        lambda storage: storage.list_scopes("/crew"),
        lambda storage: storage.list_scopes("/crew/research/deep"),
        lambda storage: storage.list_categories(),
        lambda storage: storage.list_categories("/crew/research"),
        lambda storage: [storage.count(), storage.count("/crew"), storage.count("/none"), storage.count("/")],
        lambda storage: storage.get_scope_info("/crew").model_dump(),
        lambda storage: storage.get_scope_info("/").model_dump(),
        lambda storage: storage.get_scope_info("/none").model_dump(),
        lambda storage: [record.id for record, _ in storage.search([1.0, 0.1, 0.0])],
        lambda storage: [record.id for record, _ in storage.search([1.0, 0.1, 0.0], limit=2)],
        lambda storage: [record.id for record, _ in storage.search([1.0, 0.1, 0.0], "/crew/research")],
        lambda storage: [
            record.id for record, _ in storage.search([0.0, 0.9, 0.1], categories=["plan", "no"])
        ],
        lambda storage: [r.id for r, _ in storage.search([0.0, 1.0, 0.0], metadata_filter={"of": "Ana"})],
        lambda storage: (storage.delete(record_ids=["a", "x"]), storage.count()),
        lambda storage: (storage.delete(categories=["fact"], scope_prefix="/crew"), storage.count()),
        lambda storage: (storage.delete(older_than=NOON + timedelta(days=2)), storage.count()),
        lambda storage: (storage.delete(metadata_filter={"of": "Ana"}), storage.count()),
        lambda storage: (storage.delete(), storage.count()),
        lambda storage: (storage.reset("/crew/research"), [r.id for r in storage.list_records()]),
        lambda storage: (storage.reset(), storage.count()),
    ],
)
def test_it_answers_as_the_storage_that_comes_with_crewai(
    storage: RecollectStorage, tmp_path: Path, ask: Callable[[Any], object]
) -> None:
    other = LanceDBStorage(path=str(tmp_path), compact_every=0)
    answers = []
    for each in (storage, other):
        each.save(records())
        answers.append(ask(each))
    assert answers[0] == answers[1]


def test_scores_are_cosines_and_have_a_floor(storage: RecollectStorage) -> None:
    storage.save(records())
    # [1, 0, 0] with [1, 0, 0] and [0.8, 0.6, 0]: 1 and 0.8
    found = storage.search([1.0, 0.0, 0.0], min_score=0.5)
    assert [(record.id, round(score, 4)) for record, score in found] == [("a", 1.0), ("b", 0.8)]
    assert storage.search([1.0, 0.0, 0.0], limit=0) == []
    with pytest.raises(EmbeddingDimensionMismatchError):
        storage.search([1.0, 0.0])


def test_a_record_that_is_saved_again_is_replaced_and_its_text_kept(
    storage: RecollectStorage, memory: recollect.Engine
) -> None:
    storage.save(records())
    changed = records()[0].model_copy(
        update={"content": "Another", "scope": "/new", "categories": ["x"], "metadata": {}, "importance": 0.9}
    )
    storage.update(changed)
    assert whole(storage.get_record("a")) == whole(changed)
    assert storage.count() == 4
    assert storage.list_scopes() == ["/crew", "/new", "/other"]
    (note,) = memory.list(refs=["crewai:a"]).memories
    assert [former.text for former in note.former] == ["What a says"]
    assert note.importance == 0.9
    assert "x" in note.tags


def test_what_was_deleted_can_be_brought_back_or_saved_anew(
    storage: RecollectStorage, memory: recollect.Engine
) -> None:
    storage.save(records())
    (note,) = memory.list(refs=["crewai:b"]).memories
    assert storage.delete(record_ids=["b"], scope_prefix="/other") == 0
    assert storage.delete(record_ids=["b"]) == 1
    assert storage.get_record("b") is None
    memory.restore(note.id)
    assert storage.get_record("b") is not None
    storage.delete(record_ids=["b"])
    storage.save(records()[1:2])
    assert storage.count() == 4


def test_with_its_own_embedder_the_words_of_a_query_count(
    storage: RecollectStorage, memory: recollect.Engine
) -> None:
    texts = ["The invoice is 4711-B", "Ana rides on Sundays", "Bo paints boats"]
    vectors = storage.embedder(texts)
    memory.remember("The invoice 4711-B is a note of somebody else")
    storage.save(
        [
            MemoryRecord(id=str(place), content=text, scope=f"/s{place}", categories=["c"], embedding=vector)
            for place, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ]
    )
    (asked,) = storage.embedder(["4711-B"])
    assert [record.id for record, _ in storage.search(asked, limit=1)] == ["0"]
    assert [record.id for record, _ in storage.search(asked, "/s2")] == ["2"]
    assert storage.search(asked, categories=["no"]) == []
    (same,) = storage.embedder([texts[1]])
    ((record, score),) = storage.search(same, limit=1)
    assert (record.id, round(score, 3)) == ("1", 1.0)
    storage.touch_records(["1", "x"])
    (shown,) = memory.browse.page(order="most_used").memories
    assert shown.text == texts[1]


def test_scopes_differ_by_case_and_by_whole_names(storage: RecollectStorage) -> None:
    storage.save(
        [
            MemoryRecord(id=scope, content=scope, scope=scope, embedding=[1.0])
            for scope in ("/crew", "/Crew", "/crew2", "crew/x/", "/")
        ]
    )
    assert sorted(record.id for record in storage.list_records("crew")) == ["/crew", "crew/x/"]
    assert storage.count("/") == 5
    with pytest.raises(InvalidInput, match="characters; use at most"):
        storage.save([MemoryRecord(content="x", scope="/" + "x" * 200)])


async def test_async_calls_do_the_same(storage: RecollectStorage) -> None:
    await storage.asave(records())
    assert [record.id for record, _ in await storage.asearch([1.0, 0.0, 0.0], limit=1)] == ["a"]
    assert await storage.adelete(categories=["plan"]) == 2


def test_a_memory_that_was_opened_elsewhere_stays_open(storage: RecollectStorage, tmp_path: Path) -> None:
    storage.close()
    assert storage.count() == 0
    assert copy.deepcopy(storage) is storage
    own = RecollectStorage(tmp_path / "memory.db")
    own.save(records())
    own.close()
    again = RecollectStorage(tmp_path / "memory.db")
    assert again.count() == 4
    again.close()


LEARNT = "Ana moved to Lisbon and takes the tram"


class ScriptedLLM(BaseLLM):
    """A scripted model: it saves a task's fact, and answers a question with the recalled one."""

    def call(self, messages: Any, *args: Any, response_model: Any = None, **options: Any) -> Any:
        text = messages if isinstance(messages, str) else "\n".join(str(each["content"]) for each in messages)
        if response_model is not None:
            match response_model.__name__:
                case "ExtractedMemories":
                    return response_model(memories=[LEARNT] if LEARNT in text else [])
                case "MemoryAnalysis":
                    return response_model(suggested_scope="/people", categories=["fact"], importance=0.8)
                case _:
                    return response_model()
        known = [line for line in text.split("\n") if "score=" in line and LEARNT in line]
        return f"Thought: I know.\nFinal Answer: {known[0] if known else LEARNT}"

    def supports_function_calling(self) -> bool:
        return True


def said_in_a_run(store: Path, task: str) -> str:
    """One run of a program; only the store outlives it."""
    llm = ScriptedLLM(model="scripted")
    memory = RecollectStorage(store).as_memory(llm=llm)
    agent = Agent(role="clerk", goal="Know people", backstory="A clerk.", llm=llm)
    work = Task(description=task, expected_output="A sentence", agent=agent)
    crew = Crew(agents=[agent], tasks=[work], memory=memory, verbose=False)
    said = str(crew.kickoff())
    memory.close()
    return said


def test_a_note_that_superseded_a_record_is_no_record(
    storage: RecollectStorage, memory: recollect.Engine
) -> None:
    storage.save([records()[0], records()[2]])
    (note,) = memory.list(refs=["crewai:a"]).memories
    memory.supersede(note.id, "What somebody else says", copies=False)
    assert [record.id for record in storage.list_records()] == ["c"]
    asked = storage.embedder(["What somebody else says"])[0]
    assert [record.id for record, _ in storage.search(asked)] == ["c"]
    assert [record.id for record, _ in storage.search([1.0, 1.0, 0.0])] == ["c"]
    assert storage.get_scope_info("/").record_count == storage.count() == 1
    assert "/crew/writing" in storage.as_memory().tree()
    assert storage.delete() == 1


def test_a_crew_knows_in_the_next_run_what_it_learnt_in_this_one(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    assert "score=" not in said_in_a_run(store, f"Note: {LEARNT}")
    reminded = said_in_a_run(store, "How does Ana get to work?")
    assert "score=" in reminded
    assert "takes the tram" in reminded
    with recollect.open(store) as memory:
        assert "tram" in memory.recall("how does Ana commute?").hits[0].memory.text


def test_the_page_runs(tmp_path: Path) -> None:
    check_page("crewai", "crewai", folder=tmp_path, locked="requirements-crewai.txt")
