"""Torture: fuzzed calls, ten writers, kills, power cuts and a soak, with figures.

    python benchmarks/torture/torture.py                          about an hour; prints its state folder
    python benchmarks/torture/torture.py --resume FOLDER          resumes, or begins there
    python benchmarks/torture/torture.py --part kills --count 100 --json torture.json

Exit status: 0 without findings, 1 with findings, 130 if interrupted.
"""

from __future__ import annotations

import argparse
import fcntl
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic
from typing import Any

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

Advance = Callable[[], None]
LOOK_EVERY_SECONDS = 0.5
TELL_EVERY_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of test: its generator of steps, the unit it counts, and the count of a full run."""

    steps: Callable[[Path, Part], Iterator[None]]
    unit: str
    long: int
    about: str


# Longest first, so that parallel parts end at about the same time.
KINDS = {
    "fuzz": Kind(fuzz, "calls", 100_000, "fuzzed tool calls over standard input and HTTP"),
    "soak": Kind(soak, "calls", 100_000, "calls to one server, with its memory, descriptors and files"),
    "kills": Kind(kill, "kills", 1_000, "kill -9 through Python, command line, standard input and HTTP"),
    "writers": Kind(writers.write_together, "seconds", 600, "ten processes that write to one file"),
    "cuts": Kind(cut_power, "cuts", 1_000, "simulated power cuts"),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", action="append", choices=KINDS, help="run only this part (repeatable)")
    parser.add_argument("--count", type=_positive, help="number of calls, kills or cuts of each part")
    parser.add_argument("--seconds", type=_positive, help="how long the processes of `writers` write")
    parser.add_argument(
        "--processes", type=_positive, default=10, help="number of these processes (default: 10)"
    )
    parser.add_argument(
        "--jobs", type=_positive, default=1, help="parts that run at the same time (default: 1)"
    )
    parser.add_argument("--resume", type=Path, metavar="FOLDER", help="resume from the state in this folder")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    options = parser.parse_args()
    writers.PROCESSES = options.processes
    # On SIGTERM, also end the servers that this process started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = options.resume or Path(mkdtemp(prefix="recollect-torture-"))
    try:
        run = Run(folder)
    except (OSError, ValueError, TypeError) as error:
        parser.error(f"{folder} cannot be resumed ({error}); name a folder of an earlier run, or a new one.")
    names = [name for name in KINDS if not options.part or name in options.part]
    for name in names:
        asked = options.seconds if KINDS[name].unit == "seconds" else options.count
        part = run.parts.setdefault(name, Part(KINDS[name].unit, asked or KINDS[name].long))
        part.planned = asked or part.planned
        run.save(name)
    try:
        with _progress(run, names) as advance:
            if min(options.jobs, len(names)) > 1:
                _side_by_side(run, names, options, advance)
            else:
                for name in names:
                    _do(run, name, advance)
    except KeyboardInterrupt:
        _print(f"Stopped. To resume: python {sys.argv[0]} --resume {run.folder}")
        return 130
    finally:
        if options.json:
            write_json(
                options.json, {"facts": facts("mcp", "hypothesis"), "model": "hashing", **_figures(run)}
            )
    return _verdict(run)


def _verdict(run: Run) -> int:
    found = {name: part.figures.get("findings", 0) for name, part in run.parts.items()}
    for name, part in run.parts.items():
        done = f"{part.done} of {part.planned} {part.unit}"
        _print(f"{name}: {done}, {part.seconds:.0f} s, {found[name]} findings")
    for name, part in run.parts.items():
        for finding in part.findings[:5]:
            _print(f"{name}: {finding}")
    _print(f"The findings and their files are in {run.folder}")
    return 1 if any(found.values()) else 0


def _figures(run: Run) -> dict[str, Any]:
    """Return a description of each part, its count in a full run, and its results in this run."""
    return {
        "about": {name: KINDS[name].about for name in run.parts},
        "long_form": {name: f"{KINDS[name].long} {KINDS[name].unit}" for name in run.parts},
        "parts": run.as_json(),
    }


def _do(run: Run, name: str, advance: Advance) -> None:
    with _alone(run.folder / f"{name}.lock"):
        part, begun = run.parts[name], monotonic()
        for _ in KINDS[name].steps(run.folder / name, part):
            part.seconds, begun = round(part.seconds + monotonic() - begun, 1), monotonic()
            run.save(name)
            advance()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Lock a part: two runs of it would report each other's writes as damage."""
    with path.open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(
                f"Another run already works on {path.stem} in {path.parent}; name another folder."
            ) from None
        yield


def _side_by_side(run: Run, names: Sequence[str], options: argparse.Namespace, advance: Advance) -> None:
    """Run each part in its own process, some at a time. They resume from the saved state."""
    waiting, running = list(names), dict[str, subprocess.Popen[bytes]]()
    try:
        while waiting or running:
            while waiting and len(running) < options.jobs:
                name = waiting.pop(0)
                running[name] = _started(run.folder, name, options.processes)
            time.sleep(LOOK_EVERY_SECONDS)
            run.read()
            advance()
            for name in [name for name, process in running.items() if process.poll() is not None]:
                status = running.pop(name).returncode
                if status not in {0, 1}:
                    raise SystemExit(f"{name} ended with {status}; {run.folder / name}.log says why.")
        run.read()
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait()


def _started(folder: Path, name: str, processes: int) -> subprocess.Popen[bytes]:
    with (folder / f"{name}.log").open("ab") as log:
        return subprocess.Popen(
            [
                *(sys.executable, __file__, "--resume", str(folder)),
                *("--part", name, "--processes", str(processes)),
            ],
            stdout=log,
            stderr=log,
        )


@contextmanager
def _progress(run: Run, names: Sequence[str]) -> Iterator[Advance]:
    """Show a progress bar for each part on a terminal; otherwise print a line each minute."""
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True)) as bars:
            tasks = {name: bars.add_task(f"{name} ({run.parts[name].unit})") for name in names}

            def draw() -> None:
                for name, task in tasks.items():
                    part = run.parts[name]
                    bars.update(task, completed=part.done, total=part.planned)

            draw()
            yield draw
        return
    told = monotonic()

    def line() -> None:
        nonlocal told
        if monotonic() - told >= TELL_EVERY_SECONDS:
            told = monotonic()
            parts = [(name, run.parts[name]) for name in names]
            _print(", ".join(f"{name}: {part.done} of {part.planned} {part.unit}" for name, part in parts))

    yield line


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _print(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
