"""Import stores that the peers themselves made, then check counts and the answers to three questions.

    python benchmarks/moving_in/moving_in.py --json benchmarks/results/moving-in.json
    python benchmarks/moving_in/moving_in.py --only mem0

Each file in `makers` is a peer. `PACKAGES` lists the packages of its environment. `make(folder)` fills the
folder by the peer's own API and returns a row for each store: its path, the format that Recollect should
recognise, its counts, its `owner`, and the peer's answers to `world.QUESTIONS`.
A peer without `PACKAGES` is not on PyPI. Its maker installs it and names its `versions`, or writes a file in
the published format, with empty `answers`. `PYTHON` is the Python version that the peer requires.
With `NEEDS_POSTGRES`, `POSTGRES_URL` has the URL of an empty database, and a store there has that `url`.
`PEERS` names the packages whose versions are reported, if there is more than one.
Environments are kept in the user's cache folder; a peer that cannot be installed or run is reported.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "speed"), str(HERE.parents[1] / "examples" / "postgres")]

from facts import facts, write_json  # noqa: E402  # beside the folders above
from nodes import Node  # noqa: E402
from platformdirs import user_cache_path  # noqa: E402
from world import QUESTIONS, WANTED, ranks  # noqa: E402

import recollect  # noqa: E402
from recollect.domain.records import Memory  # noqa: E402
from recollect.transfer import ForeignReport, ImportReport, import_path, recognise  # noqa: E402

_INSTALL_SECONDS = 600
_MAKE_SECONDS = 300
Row = dict[str, Any]


def main() -> int:
    options = _options()
    names = sorted(file.stem for file in (HERE / "makers").glob("*.py"))
    wanted = options.only.split(",") if options.only else names
    rows: list[Row] = []
    for name in wanted:
        rows += _measure_peer(name, Path(options.cache))
        for row in rows:
            if row["peer"] == name:
                print(json.dumps(row), flush=True)
    if options.json:
        write_json(Path(options.json), {"facts": facts("recollect-memory"), "stores": rows})
    return int(any(row.get("problem") for row in rows))


def _measure_peer(name: str, cache: Path) -> list[Row]:
    maker = import_module(f"makers.{name}")
    packages = maker.PACKAGES
    python = cache / packages[0] / "bin" / "python" if packages else Path(sys.executable)
    problem = _install(python, packages, getattr(maker, "PYTHON", "")) if packages else ""
    if problem:
        return [{"peer": name, "problem": problem}]
    with (
        tempfile.TemporaryDirectory(prefix="recollect-moving-in-") as made,
        _server() if getattr(maker, "NEEDS_POSTGRES", False) else nullcontext("") as url,
    ):
        folder = Path(made) / "store"
        folder.mkdir()
        result = _run(python, name, folder, Path(made), url)
        if isinstance(result, str):
            return [{"peer": name, "problem": result}]
        return [_import_store(name, result["versions"], store, folder) for store in result["stores"]]


@contextmanager
def _server() -> Iterator[str]:
    """Start a PostgreSQL server and yield the URL of an empty database."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-moving-in-server-"))
    node = Node(folder).create().start()
    try:
        yield node.url()
    finally:
        node.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _import_store(name: str, versions: dict[str, str], store: Row, folder: Path) -> Row:
    """Import one store twice into an empty memory, and ask the same questions as the peer was asked."""
    path = store.get("url") or folder / store["path"]
    row: Row = {
        "peer": name,
        "versions": store.get("versions") or versions or "none: written after the published format",
        "store": store["path"],
        "made": store["made"],
    }
    row["recognised_as"] = recognise(path)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    with tempfile.TemporaryDirectory() as here, recollect.open(Path(here) / "memory.db") as memory:
        first = import_path(memory, path)
        again = import_path(memory, path)
        assert isinstance(first, ForeignReport | ImportReport)
        assert isinstance(again, ForeignReport | ImportReport)
        row |= _counts(first, tuple(store["made"]))
        row["bad"] = first.bad_count
        row["changed_by_a_second_import"] = again.changed
        row["answered_by_the_peer"] = ranks(store["answers"]) if store["answers"] else None
        own = memory.scoped(store.get("owner", ""), None) if "owner" in store else memory
        hits = [own.recall(text, limit=WANTED).hits for text, _ in QUESTIONS]
        row["answered_by_us"] = ranks([[_text(hit.memory) for hit in found] for found in hits])
    row["source_untouched"] = before == {
        file: file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }
    problems = [
        "another format was recognised" if row["recognised_as"] != store["format"] else "",
        "the counts differ" if row["read"] != store["made"] or row["bad"] else "",
        "a second import changed something" if row["changed_by_a_second_import"] else "",
        "the source was touched" if not row["source_untouched"] else "",
        "a question is not answered" if None in row["answered_by_us"] else "",
    ]
    if any(problems):
        row["problem"] = "; ".join(filter(None, problems))
    return row


def _counts(report: ForeignReport | ImportReport, made: tuple[str, ...]) -> Row:
    if isinstance(report, ImportReport):  # the memory was empty, so everything read is new
        new = {
            "entities": report.entities_created,
            "observations": report.observations_added,
            "relations": report.relations_created,
        }
        return {"read": new, "new": new, "no_place": {}}
    sorts = ("entities", "observations", "notes", "messages", "relations")
    return {
        "read": {sort: getattr(report, sort) for sort in made},
        "new": {sort: getattr(report, f"{sort}_new") for sort in sorts if getattr(report, f"{sort}_new")},
        "no_place": {each.what: each.count for each in report.no_place},
    }


def _text(memory: Memory) -> str:
    return memory.text or " ".join(observation.content for observation in memory.in_force)


def _run(python: Path, name: str, folder: Path, home: Path, url: str) -> Row | str:
    environment = {**os.environ, "HOME": str(home), "ANONYMIZED_TELEMETRY": "False", "POSTGRES_URL": url}
    environment.pop("PYTHONPATH", None)
    command = [str(python), str(HERE / "make.py"), name, str(folder)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_MAKE_SECONDS, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        return f"took longer than {_MAKE_SECONDS} seconds"
    if done.returncode:
        return f"could not be filled: {(done.stderr.strip().splitlines() or ['no reason'])[-1][:200]}"
    result: Row = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def _install(python: Path, packages: tuple[str, ...], version: str) -> str:
    """Install the packages and return the error, or "" on success."""
    uv = Path(sys.executable).parent / "uv"
    commands = []
    if not python.exists():
        of = f"python{version}" if version else sys.executable
        place = str(python.parent.parent)
        commands.append(
            [str(uv), "venv", "--python", of, place] if uv.exists() else [of, "-m", "venv", place]
        )
    commands.append(
        [str(uv), "pip", "install", "--quiet", "--python", str(python), *packages]
        if uv.exists()
        else [str(python), "-m", "pip", "install", "--quiet", *packages]
    )
    for command in commands:
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"could not be installed: {type(error).__name__}"
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason"])[-1]
            return f"could not be installed: {reason[:200]}"
    return ""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", help="names of makers, separated by commas")
    parser.add_argument("--cache", default=str(user_cache_path("recollect") / "bench" / "moving-in"))
    parser.add_argument("--json", help="where to write the results")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
