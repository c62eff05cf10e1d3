"""Anthropic's memory tool: the commands that Claude writes, to the letter of what it reads back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool
from pages import check_page

import recollect
from recollect.admin import Internals
from recollect.domain.errors import Conflict
from recollect_integrations.anthropic import AsyncRecollectMemoryTool, RecollectMemoryTool

PREFERENCES = "/memories/preferences.md"


@pytest.fixture
def memory() -> Iterator[recollect.Engine]:
    with recollect.open(":memory:", model="hashing") as engine:
        yield engine


@pytest.fixture
def tool(memory: recollect.Engine) -> RecollectMemoryTool:
    return RecollectMemoryTool(memory)


def call(tool: Any, command: str, path: str | None = None, **given: object) -> str:
    """The answer, or the refusal: Claude reads the one as the other."""
    given |= {} if path is None else {"path": path}
    try:
        return str(tool.call({"command": command, **given}))
    except ToolError as error:
        return str(error)


def test_an_empty_memory_can_be_viewed(tool: RecollectMemoryTool) -> None:
    assert call(tool, "view", "/memories") == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and "
        "node_modules:\n0B\t/memories"
    )


def test_a_folder_is_listed_two_levels_deep_with_sizes(tool: RecollectMemoryTool) -> None:
    for path, size in {
        "notes.txt": 5,
        "a/b/deep.md": 1024,
        "a/c.md": 512,
        "big.md": 1536,
        ".hidden": 7,
        "node_modules/x.js": 9,
    }.items():
        call(tool, "create", f"/memories/{path}", file_text="x" * size)
    # In all 5 + 1024 + 512 + 1536 + 7 + 9 = 3093 bytes, which are 3.02 times 1024.
    assert call(tool, "view", "/memories").splitlines()[1:] == [
        "3K\t/memories",
        "1.5K\t/memories/a/",
        "1K\t/memories/a/b/",
        "512B\t/memories/a/c.md",
        "1.5K\t/memories/big.md",
        "5B\t/memories/notes.txt",
    ]
    assert call(tool, "view", "/memories/a/").splitlines()[1:] == [
        "1.5K\t/memories/a",
        "1K\t/memories/a/b/",
        "1K\t/memories/a/b/deep.md",
        "512B\t/memories/a/c.md",
    ]


def test_a_file_is_created_once_and_viewed_with_line_numbers(tool: RecollectMemoryTool) -> None:
    made = call(tool, "create", PREFERENCES, file_text="likes tea\nhates\tnoise\n")
    assert made == f"File created successfully at: {PREFERENCES}"
    assert call(tool, "create", PREFERENCES, file_text="x") == f"Error: File {PREFERENCES} already exists"
    head = f"Here's the content of {PREFERENCES} with line numbers:"
    assert call(tool, "view", PREFERENCES) == f"{head}\n     1\tlikes tea\n     2\thates\tnoise\n     3\t"
    assert call(tool, "view", PREFERENCES, view_range=[2, -1]) == f"{head}\n     2\thates\tnoise\n     3\t"
    assert call(tool, "view", PREFERENCES, view_range=[1, 1]) == f"{head}\n     1\tlikes tea"
    assert "It should be two lines of the file, from [1, 3]" in call(
        tool, "view", PREFERENCES, view_range=[4, 5]
    )
    missing = "The path /memories/no.md does not exist. Please provide a valid path."
    assert call(tool, "view", "/memories/no.md") == missing


def test_a_replacement_shows_what_it_changed(tool: RecollectMemoryTool) -> None:
    call(tool, "create", PREFERENCES, file_text="one\ntwo\nthree\nfour\nfive\nsix\n")
    assert call(tool, "str_replace", PREFERENCES, old_str="four", new_str="4\n4b") == (
        "The memory file has been edited.\n"
        "     2\ttwo\n     3\tthree\n     4\t4\n     5\t4b\n     6\tfive\n     7\tsix"
    )
    assert call(tool, "str_replace", PREFERENCES, old_str="eight", new_str="8") == (
        f"No replacement was performed, old_str `eight` did not appear verbatim in {PREFERENCES}."
    )
    assert call(tool, "str_replace", PREFERENCES, old_str="e\n", new_str="8") == (
        "No replacement was performed. Multiple occurrences of old_str `e\n` in lines: 1, 3, 6. "
        "Please ensure it is unique"
    )
    assert call(tool, "str_replace", "/memories/no.md", old_str="a", new_str="b") == (
        "Error: The path /memories/no.md does not exist. Please provide a valid path."
    )


def test_lines_are_inserted_where_they_belong(tool: RecollectMemoryTool) -> None:
    call(tool, "create", PREFERENCES, file_text="one\nthree\n")
    assert call(tool, "insert", PREFERENCES, insert_line=1, insert_text="two\n") == (
        f"The file {PREFERENCES} has been edited."
    )
    call(tool, "insert", PREFERENCES, insert_line=3, insert_text="four")
    assert call(tool, "insert", PREFERENCES, insert_line=5, insert_text="x") == (
        "Error: Invalid `insert_line` parameter: 5. "
        "It should be within the range of lines of the file: [0, 4]"
    )
    lines = [line.split("\t")[1] for line in call(tool, "view", PREFERENCES).splitlines()[1:]]
    assert lines == ["one", "two", "three", "four", ""]
    assert call(tool, "insert", "/memories/no.md", insert_line=0, insert_text="x") == (
        "Error: The path /memories/no.md does not exist"
    )


def test_files_and_folders_are_deleted_and_renamed(tool: RecollectMemoryTool) -> None:
    for name in ("a/1.md", "a/b/2.md", "c.md"):
        call(tool, "create", f"/memories/{name}", file_text=name)
    old, new = "/memories/a", "/memories/d/e"
    assert call(tool, "rename", old_path=old, new_path=new) == f"Successfully renamed {old} to {new}"
    assert call(tool, "view", "/memories/d/e/b/2.md").endswith("\ta/b/2.md")
    assert (
        call(tool, "rename", old_path=old, new_path="/memories/f") == f"Error: The path {old} does not exist"
    )
    assert call(tool, "rename", old_path="/memories/c.md", new_path="/memories/d") == (
        "Error: The destination /memories/d already exists"
    )
    assert "is within" in call(tool, "rename", old_path="/memories/d", new_path="/memories/d/x")
    assert call(tool, "delete", "/memories/d") == "Successfully deleted /memories/d"
    assert call(tool, "delete", "/memories/d") == "Error: The path /memories/d does not exist"
    assert [line.split("\t")[1] for line in call(tool, "view", "/memories").splitlines()[1:]] == [
        "/memories",
        "/memories/c.md",
    ]
    for command in (
        {"command": "delete", "path": "/memories/"},
        {"command": "rename", "old_path": "/memories"},
    ):
        assert "directory itself" in call(tool, **{"new_path": "/memories/x", **command})
    assert tool.clear_all_memory() == "All memory cleared"
    assert call(tool, "view", "/memories").endswith(":\n0B\t/memories")


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "memories/a",
        "/memoriesx",
        "/memories/../secret",
        "/memories/a/..",
        "/memories/%2e%2e/secret",
        "/memories/..\\secret",
        "/memories/a\0b",
        "/memories/" + "x" * 500,
        "/memories/a /b",
    ],
)
def test_paths_that_are_none_of_ours_are_refused(tool: RecollectMemoryTool, path: str) -> None:
    for command in (
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/x"},
    ):
        with pytest.raises(ToolError, match=r"Error: .*[Pp]ath"):
            tool.call(command)
    assert call(tool, "view", "/memories").endswith("0B\t/memories")


def test_what_the_model_wrote_wrongly_is_told(tool: RecollectMemoryTool) -> None:
    call(tool, "create", PREFERENCES, file_text="tea")
    assert call(tool, "create", f"{PREFERENCES}/x.md", file_text="x").endswith("choose another path.")
    assert call(tool, "create", "/memories/nul.md", file_text="a\0b").startswith(
        "Error: The text contains a NUL"
    )
    assert call(tool, "create", "/memories/x.md") == "Error: The command create needs file_text."
    assert call(tool, "look", "/memories").startswith("Error: There is no command 'look'; there are: view,")
    assert call(tool, "insert", PREFERENCES, insert_line="one", insert_text="x").startswith("Error: Invalid")
    assert call(tool, "create", "/memories/x.md", file_text={}).startswith("Error: file_text is text")
    call(tool, "str_replace", PREFERENCES, old_str="tea")  # by nothing
    assert call(tool, "view", PREFERENCES).endswith(":\n     1\t")
    huge = "x" * 1_000_001
    assert "at most 1,000,000 are allowed" in call(tool, "create", "/memories/x.md", file_text=huge)


@pytest.mark.parametrize("text", ["", " \n\t", "a", "\r\na\r\n", "a\n\nb", "(a file without text)"])
def test_files_read_as_the_sdks_own_do(tool: RecollectMemoryTool, tmp_path: Path, text: str) -> None:
    """Whatever is in them, nothing at all included, before and after edits."""
    other = BetaLocalFilesystemMemoryTool(str(tmp_path))
    steps: list[dict[str, object]] = [
        {"command": "create", "path": PREFERENCES, "file_text": text},
        {"command": "insert", "path": PREFERENCES, "insert_line": 0, "insert_text": "first"},
        {"command": "str_replace", "path": PREFERENCES, "old_str": "first\n", "new_str": ""},
        {"command": "rename", "old_path": PREFERENCES, "new_path": "/memories/a/b"},
    ]
    for step in steps:
        tool.call(step)
        other.call(step)
        path = str(step.get("new_path", PREFERENCES))
        assert call(tool, "view", path) == call(other, "view", path)


def test_an_insertion_leaves_blank_lines_at_the_end(tool: RecollectMemoryTool) -> None:
    call(tool, "create", PREFERENCES, file_text="\n")
    call(tool, "insert", PREFERENCES, insert_line=0, insert_text="a")
    assert call(tool, "view", PREFERENCES).endswith(":\n     1\ta\n     2\t\n     3\t")


def test_two_files_may_say_the_same_and_a_dream_leaves_both(
    tool: RecollectMemoryTool, memory: recollect.Engine
) -> None:
    for name in ("a.md", "b.md"):
        call(tool, "create", f"/memories/{name}", file_text="Ana takes the tram to work.")
    memory.remember("Ana takes the tram to work.")
    memory.dream(gate=False)
    call(tool, "delete", "/memories/a.md")
    assert call(tool, "view", "/memories/b.md").endswith("\tAna takes the tram to work.")
    assert memory.recall("tram", tags=()).hits[0].memory.text == "Ana takes the tram to work."
    assert Internals(memory).count_memories()[recollect.Kind.NOTE] == 2


def test_former_texts_and_deleted_files_can_be_brought_back(
    tool: RecollectMemoryTool, memory: recollect.Engine
) -> None:
    call(tool, "create", PREFERENCES, file_text="Ana likes tea.")
    call(tool, "str_replace", PREFERENCES, old_str="tea", new_str="coffee")
    hit = memory.recall("what does Ana drink? coffee").hits[0]
    assert (hit.memory.speaker, hit.memory.text) == (PREFERENCES, "Ana likes coffee.")
    assert [former.text for former in hit.memory.former] == ["Ana likes tea."]
    call(tool, "delete", PREFERENCES)
    assert "does not exist" in call(tool, "view", PREFERENCES)
    memory.restore(hit.memory.id)
    assert call(tool, "view", PREFERENCES).endswith("\tAna likes coffee.")
    call(tool, "delete", PREFERENCES)
    call(tool, "create", PREFERENCES, file_text="Ana likes milk.")
    with pytest.raises(Conflict):
        memory.restore(hit.memory.id)
    call(tool, "rename", old_path=PREFERENCES, new_path="/memories/drinks.md")
    events = memory.history(memory.recall("milk").hits[0].memory.id).events
    assert "merged with" in [event.what for event in events]


def test_an_empty_file_that_somebody_wrote_into_has_their_text(
    tool: RecollectMemoryTool, memory: recollect.Engine
) -> None:
    call(tool, "create", "/memories/a.md", file_text="")
    (note,) = memory.list(refs=["/memories/a.md"]).memories
    memory.update(note.id, text="Ana rides a bicycle")
    assert "Ana rides a bicycle" in call(tool, "view", "/memories/a.md")


def test_each_agent_of_an_owner_has_files_of_its_own(memory: recollect.Engine) -> None:
    tools = [RecollectMemoryTool(memory.scoped("ana", agent)) for agent in ("cook", "", None)]
    call(tools[0], "create", PREFERENCES, file_text="salt")
    assert "does not exist" in call(tools[1], "view", PREFERENCES)
    call(tools[1], "create", PREFERENCES, file_text="sugar")
    # A tool without an agent writes memories that belong to no agent.
    assert call(tools[2], "view", PREFERENCES).endswith("\tsugar")
    assert call(tools[0], "view", PREFERENCES).endswith("\tsalt")


# Claude itself, played by a server on this machine: it looks into its memory, writes, and says what it read.


class Claude(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert asked["tools"] == [{"type": "memory_20250818", "name": "memory"}]
        results = [
            block
            for message in asked["messages"]
            if message["role"] == "user" and not isinstance(message["content"], str)
            for block in message["content"]
        ]
        question = asked["messages"][0]["content"]
        content, stop = _turn(question, [str(result["content"]) for result in results])
        body = {
            "id": f"msg_{len(results)}",
            "type": "message",
            "role": "assistant",
            "model": asked["model"],
            "content": [content],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        sent = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        pass


def _turn(question: str, results: list[str]) -> tuple[dict[str, Any], str]:
    def use(**command: object) -> tuple[dict[str, Any], str]:
        return {"type": "tool_use", "id": f"t{len(results)}", "name": "memory", "input": command}, "tool_use"

    if not results:
        return use(command="view", path="/memories")
    if question.startswith("Remember: ") and len(results) == 1:
        return use(command="create", path="/memories/facts.md", file_text=question.removeprefix("Remember: "))
    if "facts.md" in results[0] and len(results) == 1:
        return use(command="view", path="/memories/facts.md")
    return {"type": "text", "text": results[-1].splitlines()[-1]}, "end_turn"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Claude)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_claude_remembers_in_one_run_and_knows_in_the_next(url: str, tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    answers = []
    for prompt in ("Remember: Ana moved to Lisbon and takes the tram.", "How does Ana get around?"):
        with recollect.open(store) as memory, anthropic.Anthropic(base_url=url, api_key="none") as client:
            runner = client.beta.messages.tool_runner(
                model="claude-sonnet-5-5",
                thread=False,  # all of the talk with each request
                max_tokens=100,
                messages=[{"role": "user", "content": prompt}],
                tools=[RecollectMemoryTool(memory)],
            )
            block = runner.until_done().content[0]
            assert block.type == "text"
            answers.append(block.text)
    assert answers == [
        "File created successfully at: /memories/facts.md",
        "     1\tAna moved to Lisbon and takes the tram.",
    ]
    with recollect.open(store) as memory:  # other users of this memory find it, too
        hit = memory.recall("how does Ana commute?").hits[0]
    assert (hit.memory.speaker, hit.memory.category) == ("/memories/facts.md", "memory file")


async def test_the_async_tool_does_the_same(url: str, tmp_path: Path) -> None:
    tool = AsyncRecollectMemoryTool(tmp_path / "memory.db")
    async with anthropic.AsyncAnthropic(base_url=url, api_key="none") as client, tool.memory:
        for prompt in ("Remember: the code is 4711", "What is the code?"):
            runner = client.beta.messages.tool_runner(
                model="claude-sonnet-5-5",
                thread=False,  # all of the talk with each request
                max_tokens=100,
                messages=[{"role": "user", "content": prompt}],
                tools=[tool],
            )
            block = (await runner.until_done()).content[0]
        assert block.type == "text"
        assert block.text == "     1\tthe code is 4711"
        path = "/memories/facts.md"
        await tool.call({"command": "str_replace", "path": path, "old_str": "4711", "new_str": "0815"})
        await tool.call({"command": "insert", "path": path, "insert_line": 1, "insert_text": "for the door"})
        await tool.call({"command": "rename", "old_path": path, "new_path": "/memories/code.md"})
        seen = str(await tool.call({"command": "view", "path": "/memories/code.md"}))
        assert seen.endswith("     1\tthe code is 0815\n     2\tfor the door\n     3\t")
        await tool.call({"command": "delete", "path": "/memories/code.md"})
        with pytest.raises(ToolError, match="does not exist"):
            await tool.call({"command": "view", "path": "/memories/code.md"})
        assert await tool.clear_all_memory() == "All memory cleared"


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    check_page("anthropic", "anthropic", folder=tmp_path)
