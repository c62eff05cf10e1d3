"""Compare peers on the same texts and vectors, each by its own public API.

    python benchmarks/peers/peers.py --json benchmarks/results/peers.json
    python benchmarks/peers/peers.py --locomo path/to/locomo-dev-jsonl

The benchmark makes a virtual environment for each peer in the cache folder. A peer that cannot be installed,
or that exceeds its time limit, is reported and skipped. Vectors come from a stand-in for the default
model (`benchmarks/speed/stand_in.py`); only those of LoCoMo come from the model itself. If strace is
installed, it counts the disk syncs of a single write.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
SPEED = HERE.parent / "speed"
sys.path.insert(0, str(SPEED))

from catalogue import PEERS  # noqa: E402  # in one of the two folders above
from facts import facts, write_json  # noqa: E402
from measure import SINGLES  # noqa: E402
from peer import Peer  # noqa: E402
from platformdirs import user_cache_path  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402
from sentences import Sentences  # noqa: E402
from stand_in import MODEL, stand_in  # noqa: E402
from timing import number, tell  # noqa: E402

from recollect.models.embedders import embedder_named as model_named  # noqa: E402

QUERIES = 60
INSTALL_SECONDS = 300
_STRACE = ("strace", "--follow-forks", "--trace=fsync,fdatasync,msync,sync_file_range")
Row = dict[str, Any]


def main() -> None:
    options = _options()
    sizes = [number(size) for size in ("200" if options.quick else options.sizes).split(",")]
    cache = Path(options.cache)
    wanted = [peer for peer in PEERS if options.only is None or peer.name in options.only.split(",")]
    results: list[Row] = []
    with (
        tempfile.TemporaryDirectory(prefix="recollect-peers-") as made,
        Progress(console=Console(stderr=True), transient=True) as bars,
    ):
        data = Path(made)
        locomo = _locomo(Path(options.locomo), cache) if options.locomo else None
        _write_data(data, max(sizes), 8 if options.quick else QUERIES)
        for peer in bars.track(wanted, description="peers"):
            tell(f"peers: {peer.name}")
            results.append(_measure_peer(peer, data, sizes, cache, locomo, options.seconds))
            print(json.dumps(results[-1]), flush=True)
            if options.json:
                known = facts("recollect-memory", "sqlite-vec")
                whole = {"facts": known, "model": MODEL, "quick": options.quick, "results": results}
                write_json(Path(options.json), whole)


def _measure_peer(
    peer: Peer, data: Path, sizes: list[int], cache: Path, locomo: Path | None, seconds: float
) -> Row:
    row: Row = {"name": peer.name, "searches": peer.searches, "durability": peer.durability, "sizes": {}}
    python, version_or_reason = _environment(peer, cache)
    row["version"] = version_or_reason
    if python is None:
        return row | {"skipped": version_or_reason}
    for size in sizes:
        if size > peer.largest:
            row["sizes"][str(size)] = f"not tried: filling {size:,} one by one takes too long"
            continue
        row["sizes"][str(size)] = _run_measure(python, ["speed", peer.name, str(data), str(size)], seconds)
    row["syncs_each_write"] = _syncs(python, peer, data, seconds)
    if locomo is not None:
        found = _run_measure(python, ["locomo", peer.name, str(locomo)], 2 * seconds)
        row["locomo"] = found["r_at_10"] if isinstance(found, dict) else found
    return row


def _syncs(python: str, peer: Peer, data: Path, seconds: float) -> float | None:
    """Return the calls of fsync and similar functions per write, or None if they cannot be counted."""
    counts = []
    for writes in (0, SINGLES):
        with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as trace:
            words = ["writes", peer.name, str(data), str(writes)]
            done = _run_measure(python, words, seconds, before=[*_STRACE, "--output", trace.name])
            if isinstance(done, str):
                return None
            counts.append(sum("sync(" in line for line in trace))
    return round((counts[1] - counts[0]) / SINGLES, 1)


def _run_measure(python: str, words: list[str], seconds: float, before: Sequence[str] = ()) -> Row | str:
    # One thread, because threads that wait for each other would count as CPU time.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "ANONYMIZED_TELEMETRY": "False"}
    environment["PYTHONPATH"] = os.pathsep.join((str(SPEED), environment.get("PYTHONPATH", "")))
    command = [*before, python, str(HERE / "measure.py"), *words]
    with tempfile.TemporaryDirectory(prefix="recollect-home-") as home:
        environment["HOME"] = home
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=seconds, check=False, env=environment
            )
        except FileNotFoundError as error:
            return str(error)
        except subprocess.TimeoutExpired:
            return f"took longer than {seconds:.0f} seconds"
    rows = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not rows:
        return f"failed: {(done.stderr.strip().splitlines() or ['no reason was given'])[-1][:200]}"
    row: Row = json.loads(rows[-1])
    return row


def _environment(peer: Peer, cache: Path) -> tuple[str | None, str]:
    """Return the peer's Python and version, or None and the reason why it could not be installed."""
    if not peer.packages:
        return sys.executable, ""
    folder = cache / peer.packages[0]
    python = folder / "bin" / "python"
    error = "" if python.exists() else _error_of(sys.executable, "-m", "venv", str(folder))
    ask = f"from importlib.metadata import version; print(version({peer.packages[0]!r}))"
    if not error and _output_of(str(python), "-c", ask) is None:
        error = _error_of(*_installer(str(python)), "numpy", *peer.packages)
    version = _output_of(str(python), "-c", ask)
    if error or version is None:
        shutil.rmtree(folder, ignore_errors=True)
        return None, f"could not be installed: {error or 'no reason was given'}"
    return str(python), version


def _installer(python: str) -> list[str]:
    """Return the command that installs packages: uv if our environment has it, as it is faster, or pip."""
    uv = Path(sys.executable).parent / "uv"
    if uv.exists():
        return [str(uv), "pip", "install", "--quiet", "--python", python]
    return [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def _error_of(*command: str) -> str:
    """Run a command and return the last line of its error, or "" if it succeeded."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    return (
        ""
        if done.returncode == 0
        else (done.stderr.strip().splitlines() or ["no reason was given"])[-1][:200]
    )


def _output_of(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


# Data


def _write_data(folder: Path, size: int, queries: int) -> None:
    made = Sentences()
    texts = made.notes(size + SINGLES)
    questions = made.queries(queries)
    embedder = stand_in()
    (folder / "texts.json").write_text(json.dumps(texts), "utf-8")
    (folder / "queries.json").write_text(json.dumps(questions), "utf-8")
    np.save(folder / "vectors.npy", embedder.documents(texts))
    np.save(folder / "query_vectors.npy", embedder.documents(questions))


def _locomo(source: Path, cache: Path) -> Path:
    """Embed LoCoMo once: turns as notes `speaker: text`, and the answerable questions. Return the folder."""
    folder = cache / "locomo"
    if (folder / "conversations.json").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    embedder = model_named(MODEL)
    assert embedder is not None
    turns, questions = (
        [json.loads(line) for line in (source / name).read_text("utf-8").splitlines()]
        for name in ("memories.jsonl", "questions.jsonl")
    )
    texts: dict[str, list[str]] = defaultdict(list)
    places: dict[str, dict[str, int]] = defaultdict(dict)
    for turn in turns:
        places[turn["store"]][turn["id"]] = len(texts[turn["store"]])
        texts[turn["store"]].append(f"{turn['speaker']}: {turn['text']}")
    conversations = []
    for name, turn_texts in texts.items():
        tell(f"peers: embedding {name}")
        asked = [
            {"text": each["text"], "gold": [places[name][id_] for id_ in each["gold"]]}
            for each in questions
            if each["store"] == name and each["gold"]
        ]
        np.save(folder / f"{name}.npy", embedder.documents(turn_texts))
        np.save(folder / f"{name}-asked.npy", np.stack([embedder.query(str(each["text"])) for each in asked]))
        conversations.append({"name": name, "texts": turn_texts, "questions": asked})
    (folder / "conversations.json").write_text(json.dumps(conversations), "utf-8")
    return folder


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="1k,10k,100k", help="numbers of texts, separated by commas")
    parser.add_argument("--only", help="names of peers, separated by commas")
    parser.add_argument("--seconds", type=float, default=150, help="time limit for one size of one peer")
    parser.add_argument("--locomo", help="a folder with LoCoMo's memories.jsonl and questions.jsonl")
    parser.add_argument("--cache", default=str(user_cache_path("recollect") / "bench" / "peers"))
    parser.add_argument("--quick", action="store_true", help="use 200 texts, for a quick check")
    parser.add_argument("--json", help="where to write the results")
    return parser.parse_args()


if __name__ == "__main__":
    main()
