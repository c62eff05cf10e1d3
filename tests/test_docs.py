"""The documentation keeps up with the code: what exists is described, and what is shown runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import recollect
from recollect.aio.async_engine import GROUPS
from recollect.cli.command import ExtraCommand
from recollect.cli.main import cli
from recollect.operations.catalogue import SETS
from recollect.ranking.factors import FACTORS
from recollect.ranking.profiles import PROFILES
from recollect.ranking.steps import STEPS
from recollect.settings import Settings

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
COMMANDS = [name for names in cli.sections.values() for name in names]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_command_setting_tool_and_part_of_a_ranking_has_its_entry() -> None:
    entries = {
        "docs/reference/cli.md": [f"### recollect {command}\n" for command in COMMANDS],
        "docs/reference/settings.md": [f"| `{field.name}` |" for field in fields(Settings)],
        "docs/internals/ranking.md": [f"`{name}`" for name in (*PROFILES, *FACTORS, *STEPS)],
        "docs/reference/mcp.md": [f"`{name}`" for name in SETS["all"]],
        "docs/reference/python/groups.md": [f"heading: memory.{group}," for group in GROUPS],
    }
    for name, wanted in entries.items():
        assert [entry for entry in wanted if entry not in page(name)] == [], name


def test_every_public_name_is_in_the_python_reference() -> None:
    pages = [*ROOT.glob("docs/reference/python/*.md"), ROOT / "docs/reference/errors.md"]
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    listed = r"(?:::: recollect\.|\[|, |`(?:recollect\.)?){}\b"
    assert [name for name in recollect.__all__ if not re.search(listed.format(name), text)] == []


def test_links_between_pages_lead_somewhere_and_files_that_they_name_exist() -> None:
    places = (ROOT, *ROOT.glob("packages/*/src/*"))
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if not target.startswith(("http://", "https://")):
                assert (path.parent / target).exists(), f"{path} links to {target}"
        named = re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|sql|toml|json))`", text)
        for each in named if "decisions" not in path.parts else ():
            assert any((place / each).exists() for place in places), f"{path} names {each}"


def test_a_recall_a_write_and_a_dream_run_through_the_files_of_the_tour(tmp_path: Path) -> None:
    page_text = page("docs/internals/tour.md")
    with recollect.open(tmp_path / "tour.db", model="hashing") as memory:
        memory.create_entities([{"name": "Ana", "type": "person"}])
        memory.remember("Ana moved to Porto in 2020")
        calls: dict[str, Callable[[], object]] = {
            "One write": lambda: memory.remember("Ana moved to Lisbon"),
            "One recall": lambda: memory.recall("where did Ana live last week?"),
            "One dream": memory.dream,
        }
        for section, call in calls.items():
            table = page_text.partition(f"## {section}\n")[2].partition("\n\nThe ")[0].partition("\n## ")[0]
            rows = [row.split("|")[2] for row in table.splitlines() if row.startswith("|")]
            named = set(re.findall(r"`([a-z_/]+\.py)`", " ".join(rows))) - {
                "write/usage.py"
            }  # another thread
            assert named - files_run_by(call) == set(), section


def files_run_by(call: Callable[[], object]) -> set[str]:
    """Files of the core in which this thread runs a function, from the folder of the package."""
    found: set[str] = set()
    sys.setprofile(lambda frame, _event, _arg: found.add(frame.f_code.co_filename))
    try:
        call()
    finally:
        sys.setprofile(None)
    core = str(Path(recollect.__file__).parent) + os.sep
    return {file.removeprefix(core) for file in found if file.startswith(core)}


def test_pages_stay_within_their_word_budgets() -> None:
    words = {path: len(path.read_text(encoding="utf-8").split()) for path in PAGES}
    assert words[ROOT / "README.md"] <= 600
    assert sum(count for path, count in words.items() if path.is_relative_to(ROOT / "docs")) <= 60_000
    decisions = {path: count for path, count in words.items() if path.match("decisions/0*.md")}
    assert {path.name: count for path, count in decisions.items() if count > 400} == {}


def test_every_decision_says_why_what_follows_and_what_would_change_it() -> None:
    wanted = ["Context", "Choice", "Consequences", "What would change our mind"]
    for path in ROOT.glob("docs/internals/decisions/0*.md"):
        assert re.findall("^## (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE) == wanted, path


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page("README.md"), re.DOTALL)
    assert blocks
    for block in blocks:
        done = run([sys.executable, "-c", block], tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Ana meets Ben on Thursdays" in done.stdout


GUIDES_WITH_PYTHON = [
    path for path in sorted(ROOT.glob("docs/guides/*.md")) if "```python\n" in path.read_text("utf-8")
]


@pytest.mark.parametrize("path", GUIDES_WITH_PYTHON, ids=lambda path: path.stem)
def test_the_python_of_a_guide_runs_and_prints_what_it_shows(tmp_path: Path, path: Path) -> None:
    """As one script, since a later block continues an earlier one."""
    script, shown = (
        "".join(re.findall(rf"```{kind}\n(.*?)```", path.read_text("utf-8"), re.DOTALL))
        for kind in ("python", "text")
    )
    done = run([sys.executable, "-c", script], tmp_path)
    assert done.returncode == 0, done.stderr
    assert not shown or shown == done.stdout


def test_commands_and_options_that_the_pages_name_exist() -> None:
    unknown = []
    for path in [ROOT / "README.md", *ROOT.glob("docs/start/*.md"), *ROOT.glob("docs/guides/**/*.md")]:
        text = path.read_text("utf-8")
        for typed in re.findall(r"(?:^|`|\$ )recollect ([^`\n]+)", text, re.MULTILINE):
            unknown += [f"{path.name}: {word} of: recollect {typed}" for word in unknown_words(typed)]
    assert unknown == []


def unknown_words(typed: str) -> list[str]:
    """The commands and options of a command line that do not exist."""
    command: click.Command = cli
    unknown = []
    for word in re.split(r" #| [|>] ", typed)[0].split():
        name = word.partition("=")[0].rstrip(",.;:")
        if word.startswith("--"):
            known = command.get_params(click.Context(command))
            if command is not cli and not any(name in (*each.opts, *each.secondary_opts) for each in known):
                unknown.append(name)
        elif isinstance(command, click.Group) and re.fullmatch(r"[a-z][a-z-]*", word):
            found = command.get_command(click.Context(command), name)
            if found is not None:
                command = found.load() if isinstance(found, ExtraCommand) else found
            elif command is not cli:
                unknown.append(name)
    return unknown


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    (block,) = re.findall(r"```console\n(.*?)```", page("README.md"), re.DOTALL)
    typed = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ recollect ")]
    assert len(typed) > 3
    settings = {"STORE": str(tmp_path / "docs.db"), "CONFIG": os.devnull, "MODEL": "hashing"}
    environment = {f"RECOLLECT_{name}": value for name, value in settings.items()}
    shown = []
    for line in typed:
        result = CliRunner().invoke(cli, shlex.split(line)[1:], env=environment)
        assert result.exit_code == 0, (line, result.output)
        shown.append(result.stdout)
    assert "Ana moved to Lisbon" in "".join(shown)


def test_the_sample_graph_is_in_the_official_format() -> None:
    lines = (ROOT / "examples" / "sample-graph.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = [json.loads(line)["type"] for line in lines]
    assert set(kinds) == {"entity", "relation"}


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """In an empty folder, with a store of its own and a model that needs no weights."""
    environ = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "RECOLLECT_STORE": str(folder / "docs.db"),
        "RECOLLECT_MODEL": "hashing",
        "PYTHONUTF8": "1",
    }
    return subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=600
    )
