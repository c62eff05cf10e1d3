"""What `make demo` shows: a sample memory, asked, explained and corrected, as one would type it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

CLONE = Path(__file__).parents[1]

STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Bring in a graph in the official memory server's format.", ("import", "examples/sample-graph.jsonl")),
    ("Search: by words and by meaning at once.", ("search", "tide tables", "--limit", "3")),
    ("A question that shares no word with its answer.", ("search", "who has a nut allergy?", "--limit", "1")),
    ("Any language: here Spanish …", ("search", "¿quién riega las plantas?", "--limit", "1")),
    ("… and here a word inside Japanese sentences.", ("search", "灯台", "--limit", "2")),
    (
        "Recall is a search that learns: what it shows counts as used.",
        ("recall", "tide tables", "--limit", "3"),
    ),
    (
        "Asked again, by another ranking, and explained: every step that made the score.",
        ("recall", "tide tables", "--limit", "1", "--profile", "limbic", "--explain"),
    ),
    (
        "Why is something not on the list, and what would lift it?",
        ("why-not", "tide tables", "Harmonic Solver", "--limit", "3", "--profile", "limbic"),
    ),
    (
        "Correct what has changed; the old observation stays, as history.",
        (
            "observe",
            "Marisol Vega",
            "Works from home on Mondays",
            "--supersedes",
            "Works from home on Fridays",
        ),
    ),
    (
        "Notes: anything worth keeping. Names that it mentions become links.",
        ("remember", "Marisol Vega moves the harbour walk to Tuesday at 10", "--tag", "plans"),
    ),
    ("Someone else noted it too …", ("remember", "harbour walk with marisol vega: tuesday 10:00")),
    (
        "… and both were wrong. A correction retires the error and its near-copies.",
        ("supersede", "27", "Marisol Vega moves the harbour walk to Thursday at 10"),
    ),
    ("Queries may speak of a time.", ("recall", "what did I note today about the walk?", "--limit", "2")),
    (
        "What an agent should read before it answers, within a budget of tokens.",
        ("context", "when is the harbour walk?", "--budget", "150"),
    ),
    ("All that is known about one entity.", ("show", "Marisol Vega", "--history")),
    ("What the memory holds: one file, and a model that runs on this machine.", ("stats",)),
)


def main() -> int:
    with TemporaryDirectory(prefix="recollect-demo-", ignore_cleanup_errors=True) as folder:
        for comment, arguments in STEPS:
            _say(comment, arguments)
            status = _run(arguments, Path(folder))
            if status:
                return status
    click.secho("\nNow yours:", bold=True)
    click.echo("  .venv/bin/recollect add 'Ada' --type person -o 'Wrote the first program'")
    click.echo("  .venv/bin/recollect --help")
    return 0


def _say(comment: str, arguments: tuple[str, ...]) -> None:
    click.secho(f"\n# {comment}", dim=True)
    click.secho(f"$ recollect {' '.join(map(_typed, arguments))}", bold=True)


def _typed(argument: str) -> str:
    """As a person types it: quoted only where the shell needs that."""
    return argument if re.fullmatch(r"[\w./-]+", argument) else shlex.quote(argument)


def _run(arguments: tuple[str, ...], folder: Path) -> int:
    """Run the real command line, so that what is shown is what is typed."""
    command = [sys.executable, "-m", "recollect.cli.main", *arguments]
    environment = {**_without_settings(), **_own_settings(folder)}
    return subprocess.run(command, env=environment, cwd=CLONE, check=False).returncode  # noqa: S603  # our own program


def _without_settings() -> dict[str, str]:
    """The demo leaves the user's memory alone, whatever is set; only the model may be chosen."""
    kept = {"RECOLLECT_MODEL"}
    return {name: value for name, value in os.environ.items() if name in kept or "RECOLLECT_" not in name}  # noqa: TID251  # handed on to the program


def _own_settings(folder: Path) -> dict[str, str]:
    settings = folder / "config.toml"
    settings.touch()
    return {"RECOLLECT_STORE": str(folder / "memory.db"), "RECOLLECT_CONFIG": str(settings)}


if __name__ == "__main__":
    sys.exit(main())
