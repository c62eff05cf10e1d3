"""What a start loads: no more than the command needs. Without a clock, since machines differ."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]

LOADED = """
import sys
from recollect.cli.main import cli
try:
    cli.main(sys.argv[1:], "recollect")
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules)
"""
NO_COMMAND_LINE = ("mcp", "pydantic", "asyncio", "huggingface_hub", "recollect.mcp.starting")
"""What no command but `serve` and `mcp` needs."""
ONLY_WHEN_ASKED = (
    *NO_COMMAND_LINE,
    "onnxruntime",  # the model of these tests needs none
    "numpy.ma",
    "recollect.models.extractors",
    "recollect.transfer",
    "recollect.language.statements",
    "recollect.dreams.phases",
    "recollect.dreams.plan",
    "recollect.tuning.search",
    "recollect.tuning.tuning",
    "recollect.dreams.dreaming",
    "recollect.memories.graph",
    "recollect.memories.notes",
    "recollect.self_test",
    "recollect.admin",
)
COMMANDS = 13
"""Files in `cli/commands`; the help of all of them reads none."""


def loaded_by(recollect: CommandLine, *typed: str) -> set[str]:
    result = subprocess.run(
        [sys.executable, "-c", LOADED, *typed],
        env=recollect.variables(),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(result.stdout.splitlines()[-1].split())


def ours(loaded: set[str]) -> list[str]:
    return sorted(name for name in loaded if name.partition(".")[0] == "recollect")


def test_the_help_of_all_commands_loads_none_of_them(recollect: CommandLine) -> None:
    loaded = loaded_by(recollect, "--help")
    assert not loaded & {*NO_COMMAND_LINE, "numpy", "apsw", "rich", "json", "recollect.settings"}
    assert len(ours(loaded)) < COMMANDS, ours(loaded)


def test_a_recall_loads_what_it_needs(harbour: CommandLine) -> None:
    loaded = loaded_by(harbour, "recall", "oolong")
    assert not loaded & {*ONLY_WHEN_ASKED}
    # 168 when this was written, 182 with checksums, limits and fair waiting, 184 with versions and decisions
    # to keep. More may be right, but is a start that everybody pays for.
    assert len(ours(loaded)) <= 184, ours(loaded)


@pytest.mark.parametrize("typed", [["find", "Marisol"], ["history", "Marisol Vega"], ["graph"]])
def test_a_command_that_only_reads_loads_no_rule_of_writing(harbour: CommandLine, typed: list[str]) -> None:
    loaded = loaded_by(harbour, *typed)
    assert not loaded & {
        *NO_COMMAND_LINE,
        "onnxruntime",
        "recollect.language.statements",
        "recollect.write.apply",
    }


def test_settings_are_shown_without_the_engine(recollect: CommandLine) -> None:
    loaded = loaded_by(recollect, "settings")
    assert not loaded & {*NO_COMMAND_LINE, "numpy", "apsw", "recollect.engine"}


def test_a_server_answers_before_it_loads_the_engine() -> None:
    program = (
        "import sys\nfrom recollect.mcp.starting import quick_start\nwith quick_start():\n"
        " from recollect.mcp.stdio import LazyEngine\n"
        " from recollect.mcp.stdio import serve_stdio\n"
        " from recollect.mcp.server import MemoryServer\n"
        "MemoryServer(lambda: None, ['recall'])\n"
        "print({'numpy', 'apsw', 'onnxruntime', 'recollect.engine'} & {*sys.modules})"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"


ENDED = """
import atexit, sys, threading
from recollect.cli.main import main
class Left:
    def __del__(self):
        print("torn down")
left = Left()
atexit.register(print, "handlers ran")
if sys.argv.pop(1) == "busy":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
main()
"""


@pytest.mark.parametrize(("state", "last"), [("idle", "handlers ran"), ("busy", "torn down")])
def test_a_command_ends_at_once_where_nothing_runs_any_more(state: str, last: str) -> None:
    typed = [sys.executable, "-c", ENDED, state, "--version"]
    lines = subprocess.run(typed, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines[0].startswith("recollect ")
    assert "handlers ran" in lines
    assert lines[-1] == last
