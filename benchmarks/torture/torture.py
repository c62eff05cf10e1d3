"""Torture: fuzzed calls, ten writers, kills, power cuts and a soak, with figures.

    python benchmarks/torture/torture.py                          about an hour; says where it keeps its state
    python benchmarks/torture/torture.py --resume FOLDER          goes on, or begins there
    python benchmarks/torture/torture.py --part kills --count 100 --json torture.json

Exit status: 0 where nothing was found, 1 where something was, 130 where it was stopped.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[1] / "speed"))

import writers
from facts import facts, write_json
from fuzzing import fuzz
from kills import kill
from power_cuts import cut_power
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from soaking import soak
from torture_run import Part, Run

Advance = Callable[[Part], None]
TELL_EVERY_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Kind:
    """A part: its work step by step, what it counts, and how much of it the long form does."""

    steps: Callable[[Path, Part], Iterator[None]]
    unit: str
    long: int
    about: str


KINDS = {
    "fuzz": Kind(fuzz, "calls", 100_000, "fuzzed tool calls over standard input and HTTP"),
    "writers": Kind(writers.write_together, "seconds", 600, "ten processes that write to one file"),
    "kills": Kind(kill, "kills", 1_000, "kill -9 through Python, command line, standard input and HTTP"),
    "cuts": Kind(cut_power, "cuts", 1_000, "simulated power cuts"),
    "soak": Kind(soak, "calls", 100_000, "calls to one server, with its memory, descriptors and files"),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", action="append", choices=KINDS, help="only this one; may be repeated")
    parser.add_argument("--count", type=_positive, help="how many calls, kills or cuts each part does")
    parser.add_argument("--seconds", type=_positive, help="how long the ten processes write")
    parser.add_argument("--processes", type=_positive, default=10, help="how many of them; ten")
    parser.add_argument("--resume", type=Path, metavar="FOLDER", help="go on from the state kept there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    options = parser.parse_args()
    writers.PROCESSES = options.processes
    # Who ends it politely ends the servers that it started, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = options.resume or Path(mkdtemp(prefix="recollect-torture-"))
    try:
        run = Run(folder)
    except (OSError, ValueError, TypeError) as error:
        parser.error(f"{folder} cannot be resumed ({error}); name a folder of an earlier run, or a new one.")
    names = options.part or list(KINDS)
    try:
        for name in names:
            _do(run, name, options.seconds if KINDS[name].unit == "seconds" else options.count)
    except KeyboardInterrupt:
        _tell(f"Stopped. To go on: python {sys.argv[0]} --resume {run.folder}")
        return 130
    finally:
        run.save()
        if options.json:
            about = {name: KINDS[name].about for name in run.parts}
            write_json(
                options.json, {"facts": facts("mcp", "hypothesis"), "about": about, "parts": run.as_json()}
            )
    found = {name: part.figures.get("findings", 0) for name, part in run.parts.items()}
    for name, part in run.parts.items():
        _tell(
            f"{name}: {part.done} of {part.planned} {part.unit}, {part.seconds:.0f} s, {found[name]} findings"
        )
    for name, part in run.parts.items():
        for finding in part.findings[:5]:
            _tell(f"{name}: {finding}")
    _tell(f"All that was found, and the files of it: {run.folder}")
    return 1 if any(found.values()) else 0


def _do(run: Run, name: str, asked: int | None) -> None:
    kind = KINDS[name]
    part = run.parts.setdefault(name, Part(kind.unit, asked or kind.long))
    part.planned = asked or part.planned
    begun = monotonic()
    with _progress(name, part) as advance:
        for _ in kind.steps(run.folder / name, part):
            part.seconds, begun = round(part.seconds + monotonic() - begun, 1), monotonic()
            run.save()
            advance(part)


@contextmanager
def _progress(name: str, part: Part) -> Iterator[Advance]:
    """A bar on a terminal, else a line a minute."""
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(f"{name} ({part.unit})", total=part.planned, completed=part.done)
            yield lambda now: bar.update(task, completed=now.done, total=now.planned)
        return
    told = monotonic()

    def line(now: Part) -> None:
        nonlocal told
        if monotonic() - told >= TELL_EVERY_SECONDS:
            told = monotonic()
            _tell(f"{name}: {now.done} of {now.planned} {now.unit}")

    yield line


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
