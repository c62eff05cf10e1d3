"""Beside the newest releases of agent frameworks: no version is held back, and everything imports."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from uv import find_uv_bin

ROOT = Path(__file__).parents[1]
OURS = ("packages/recollect", "packages/recollect-integrations")
FRAMEWORKS = {
    "LangChain": (
        "langchain langgraph langchain-mcp-adapters",
        "langchain, langgraph, langchain_mcp_adapters.client",
    ),
    "CrewAI": ("crewai", "crewai"),
    "OpenAI Agents": ("openai-agents", "agents"),
    "Pydantic AI": ("pydantic-ai", "pydantic_ai"),
    "LlamaIndex": ("llama-index", "llama_index.core"),
    "Google ADK": ("google-adk", "google.adk"),
    "Haystack": ("haystack-ai", "haystack"),
    "Strands": ("strands-agents", "strands"),
    "Agent Framework": ("agent-framework-core", "agent_framework"),
    "Anthropic": ("anthropic", "anthropic"),
}
"""Extras, each with the modules to import."""
TOGETHER = frozenset(("Haystack", "Strands", "Agent Framework", "Anthropic"))
"""`make test-integrations` imports these in one environment."""


def _uv(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [find_uv_bin(), *words],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=1_800,  # it may have to download a framework
    )


@cache
def _index_is_reached() -> bool:
    return _uv("pip", "compile", "--quiet", "--no-deps", "-", given="pip\n").returncode == 0


@pytest.fixture(autouse=True)
def _needs_an_index() -> None:
    if not _index_is_reached():
        pytest.skip("no package index can be reached")


def _resolved(packages: str, *options: str) -> dict[str, str]:
    words = ("pip", "compile", "--quiet", "--no-header", "--no-annotate", "--python", sys.executable, "-")
    done = _uv(*words, *options, given=packages.replace(" ", "\n"))
    assert done.returncode == 0, done.stderr
    lines = (line.partition(";")[0].partition("==") for line in done.stdout.splitlines())
    return {name: version.strip() for name, equal, version in lines if equal}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_no_version_of_a_framework_or_of_its_needs_is_held_back(framework: str) -> None:
    packages, _ = FRAMEWORKS[framework]
    ours = [f"{each}/pyproject.toml" for each in OURS]
    for _ in range(3):
        _resolved(packages)
        _resolved(packages, *ours)
        # From the cache, so that both see the same releases: an index with several servers may show one of
        # them a newer release than the other. A test beside this one may still change the cache.
        alone, beside = _resolved(packages, "--offline"), _resolved(packages, "--offline", *ours)
        assert len(alone) > 5
        if alone.items() <= beside.items():
            return
    assert {name: beside.get(name) for name in alone} == alone


@pytest.mark.parametrize("framework", [name for name in FRAMEWORKS if name not in TOGETHER])
def test_a_memory_works_in_the_same_process_as_a_framework(framework: str) -> None:
    packages, modules = FRAMEWORKS[framework]
    script = (
        f"import {modules}, recollect\n"
        "with recollect.open(':memory:') as memory:\n"
        "    memory.remember('Ana takes the tram to work')\n"
        "    print(memory.recall('how does she commute?').hits[0].memory.text)\n"
    )
    wanted = [word for name in packages.split() for word in ("--with", name)]
    wanted += [word for each in OURS for word in ("--with-editable", each)]
    words = ("run", "--quiet", "--isolated", "--no-project", "--python", sys.executable)
    # uv keeps such an environment in its cache, and rebuilds it when there are newer releases.
    done = _uv(*words, *wanted, "python", "-c", script)
    assert done.stdout == "Ana takes the tram to work\n", done.stderr


@pytest.mark.parametrize(
    ("command", "what", "extra"),
    [
        ("serve", "The server", "mcp"),
        ("serve --http", "`recollect serve --http`", "server"),
        ("serve --openapi", "`recollect serve --http`", "server"),
        ("ui", "`recollect ui`", "server"),
        ("token list", "`recollect token`", "server"),
        ("stats --store postgresql://a@b/c", "The store postgresql://a@b/c", "postgres"),
        ("mcp install claude-code", "The server", "mcp"),
    ],
)
def test_a_server_without_its_extra_names_the_command(
    command: str, what: str, extra: str, tmp_path: Path
) -> None:
    words = ("--no-project", "--python", sys.executable, "--with-editable", OURS[0], "recollect", "--store")
    done = _uv("run", "--quiet", "--isolated", *words, str(tmp_path / "memory.db"), *command.split())
    assert done.returncode == (3 if extra == "postgres" else 1), done.stderr  # 3: the store is unavailable
    assert done.stderr.startswith(f"recollect: {what} needs packages that are not installed (")
    assert done.stderr.endswith(f"run: pip install 'recollect-memory[{extra}]'\n")
