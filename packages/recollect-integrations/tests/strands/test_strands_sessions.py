"""Strands: sessions that go on in another process, compared with those that Strands keeps in files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
from strands import Agent
from strands.models.model import Model
from strands.session import FileSessionManager, SessionRepository
from strands.types.content import Message, Messages
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType
from strands.types.streaming import StreamEvent

import recollect
from recollect_integrations.strands import RecollectSessionManager, RecollectSessionRepository


@pytest.fixture
def memory() -> Iterator[recollect.Engine]:
    with recollect.open(":memory:", model="hashing") as engine:
        yield engine


def talk() -> list[Message]:
    return [
        {"role": "user", "content": [{"text": "My horse is called Bruno"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"name": "look", "toolUseId": "1", "input": {"n": [1]}}}],
        },
        {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": b"\x00\xff"}}}]},
        {"role": "assistant", "content": [{"text": "ok"}, {"text": "then"}]},
    ]


def steps(repository: SessionRepository) -> list[object]:
    """All that a repository answers, in one life of a session."""
    repository.create_session(Session("s", SessionType.AGENT, "2026-05-01T12:00:00", "2026-05-01T12:00:00"))
    agent = SessionAgent("a", {"mood": {"x": [1]}}, {"kept": 1}, created_at="then", updated_at="then")
    repository.create_agent("s", agent)
    for place, message in enumerate(talk()):
        at = f"2026-05-01T12:00:0{place}+00:00"
        repository.create_message("s", "a", SessionMessage(message, place, created_at=at, updated_at=at))
    told = [repository.read_session("s"), repository.read_session("x"), repository.read_agent("s", "x")]
    repository.update_agent("s", SessionAgent("a", {"mood": "glad"}, {}, created_at="now", updated_at="now"))
    secret = SessionMessage(talk()[0], 0, {"role": "user", "content": [{"text": "[redacted]"}]}, "x", "now")
    repository.update_message("s", "a", secret)
    return [
        *told,
        repository.read_agent("s", "a"),
        repository.read_message("s", "a", 2),
        repository.read_message("s", "a", 9),
        repository.list_messages("s", "a"),
        repository.list_messages("s", "a", limit=2, offset=1),
    ]


def test_it_answers_as_the_files_of_strands(memory: recollect.Engine, tmp_path: Path) -> None:
    files = FileSessionManager("other", storage_dir=str(tmp_path))
    assert steps(RecollectSessionRepository(memory, extract=False)) == steps(files)


def test_what_is_not_there_is_told(memory: recollect.Engine) -> None:
    repository = RecollectSessionRepository(memory)
    repository.create_session(Session("s", SessionType.AGENT))
    with pytest.raises(SessionException, match="already exists"):
        repository.create_session(Session("s", SessionType.AGENT))
    for call in (
        lambda: repository.update_agent("s", SessionAgent("a", {}, {})),
        lambda: repository.update_message("s", "a", SessionMessage(talk()[0], 0)),
        lambda: repository.list_messages("s", "a"),
        lambda: repository.delete_session("x"),
    ):
        with pytest.raises(SessionException, match="does not exist"):
            call()
    with pytest.raises(SessionException, match="slash"):
        repository.create_session(Session("a/b", SessionType.AGENT))


def test_a_deleted_session_can_be_begun_anew(memory: recollect.Engine) -> None:
    repository = RecollectSessionRepository(memory, extract=False)
    before = steps(repository)
    assert memory.recall("redacted").hits[0].memory.session == "s/a"
    repository.delete_session("s")
    assert repository.read_session("s") is None
    assert memory.recall("redacted").hits == ()
    assert steps(repository) == before


@pytest.mark.parametrize(("one", "other"), [("monday", "Monday"), ("x" * 250 + "1", "x" * 250 + "2")])
def test_a_deleted_session_takes_no_other_along(memory: recollect.Engine, one: str, other: str) -> None:
    repository = RecollectSessionRepository(memory)
    for session in (one, other):
        repository.create_session(Session(session, SessionType.AGENT))
        repository.create_agent(session, SessionAgent("a", {}, {}))
        repository.create_message(session, "a", SessionMessage(talk()[0], 0))
    repository.delete_session(one)
    assert repository.read_session(one) is None
    assert repository.read_session(other) is not None
    assert len(repository.list_messages(other, "a")) == 1


class Parrot(Model):
    """Says how many messages it read, and the first of them."""

    def update_config(self, **model_config: Any) -> None:
        pass

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *args: Any, **options: Any) -> AsyncGenerator[dict[str, Any], None]:
        raise NotImplementedError

    async def stream(
        self, messages: Messages, *args: Any, **options: Any
    ) -> AsyncGenerator[StreamEvent, None]:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {
            "contentBlockDelta": {"delta": {"text": f"{len(messages)}: {messages[0]['content'][0]['text']}"}}
        }
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def test_a_session_is_deleted_though_a_note_of_its_state_was_superseded(memory: recollect.Engine) -> None:
    repository = RecollectSessionRepository(memory)
    repository.create_session(Session("s", SessionType.AGENT))
    repository.create_agent("s", SessionAgent("a", {}, {}))
    (note,) = memory.list(refs=['strands:["s", "agent", "a"]']).memories
    memory.supersede(note.id, "Something else", copies=False)
    repository.delete_session("s")
    assert repository.read_session("s") is None


def test_a_session_goes_on_in_the_next_run(tmp_path: Path) -> None:
    said = []
    for prompt in ("My horse is called Bruno", "And now?"):
        with recollect.open(tmp_path / "memory.db") as memory:
            sessions = RecollectSessionManager("monday", memory)
            agent = Agent(model=Parrot(), session_manager=sessions, agent_id="a", callback_handler=None)
            agent.state.set("runs", 1 + (agent.state.get("runs") or 0))
            said.append(str(agent(prompt)).strip())
    assert said == ["1: My horse is called Bruno", "3: My horse is called Bruno"]
    with recollect.open(tmp_path / "memory.db") as memory:
        kept = RecollectSessionRepository(memory).read_agent("monday", "a")
        assert kept is not None
        assert kept.state == {"runs": 2}
        assert "Bruno" in memory.recall("what is the horse called?").hits[0].memory.text
