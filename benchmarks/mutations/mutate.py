"""Break the core at fixed places, and note which breaks a test suite notices.

Run two suites over the same places to compare them. `choose` wrote `places.json` once, from the 0.2.0 tree. A
place is stored as a function name and source text, so that it is found again after files are moved or merged.

    make setup                                   # in the tree under test, with its work committed
    VIRTUAL_ENV=.venv .venv/bin/uv pip install coverage pytest-cov
    cd benchmarks/mutations
    python mutate.py measure --fast --coverage /tmp/new.coverage    # run `make test` once, with coverage
    python mutate.py find                                           # list the places that are not found
    python mutate.py run --suite new --coverage /tmp/new.coverage   # write results/new.json
    python mutate.py compare v0.2.0 new                             # list what only one suite notices

If `find` reports a place as missing or ambiguous, add its new text to `overrides` in `places.json`. An
override may give `file`, `function`, `original` and `mutated`, without comments and indents:
`{"m07": {"original": "if age > limit:", "mutated": "if age >= limit:"}}`. If its code no longer exists, say
why in `deleted`. Without `--fast`, `measure` also runs the slow tests.

`--tree PATH` tests another clone. `run` makes two scratch clones of its commit and tests two places at a
time. It skips places that the results file has; `--only m07 --limit 3000` repeats one place with more time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import queue
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from places import NotFoundError, Place, choose, core_of, find, last_part, source_root

HERE = Path(__file__).resolve().parent
PLACES = HERE / "places.json"
NOT_MEASURED = ("packages/recollect-server/tests/web", "packages/recollect-integrations/tests")
FIRST_BATCH = 40
HANG_SECONDS = 60


class Coverage:
    """Which tests run which line, from coverage.py's database and the log that `measure` writes beside it."""

    def __init__(self, file: Path) -> None:
        self._data = sqlite3.connect(file, check_same_thread=False)
        self.seconds: dict[str, float] = defaultdict(float)
        outcomes: dict[str, set[str]] = defaultdict(set)
        for test, seconds, outcome in read_log(log_beside(file)):
            if outcome != "started":
                self.seconds[test] += seconds
                outcomes[test].add(outcome)
        self._passed = {test for test, seen in outcomes.items() if seen == {"passed"}}
        self._files: dict[str, int] = Counter()
        self._by_context: dict[int, str] = {}
        counts = (
            "SELECT c.id, context, count(*) FROM context c JOIN line_bits ON context_id = c.id GROUP BY c.id"
        )
        for id_, context, count in self._data.execute(counts):
            test = context.rpartition("|")[0]
            if test in self._passed:
                self._by_context[id_] = test
                self._files[test] = max(self._files[test], count)

    @cache  # noqa: B019  # lives as long as the program
    def lines(self, path: str) -> dict[int, set[str]]:
        """Return the tests of each line of a file."""
        found: dict[int, set[str]] = defaultdict(set)
        query = (
            "SELECT context_id, numbits FROM line_bits JOIN file f ON f.id = file_id WHERE path LIKE '%' || ?"
        )
        for context, bits in self._data.execute(query, (path,)):
            if test := self._by_context.get(context):
                for line in (
                    8 * at + bit for at, byte in enumerate(bits) for bit in range(8) if byte >> bit & 1
                ):
                    found[line].add(test)
        return found

    def is_executed(self, path: str, lines: range) -> bool:
        return any(line in self.lines(path) for line in lines)

    def tests(self, path: str, lines: range) -> list[str]:
        """Return the tests that run a statement, quick and specific ones first, then the rest of their files.

        Caches and shared fixtures run a line in one test for all tests of a file, so the others count too.
        """
        direct = set().union(*(self.lines(path).get(line, set()) for line in lines))
        files = {test.partition("::")[0] for test in direct}
        rest = {test for test in self._passed if test.partition("::")[0] in files} - direct
        return self._ordered(direct) + self._ordered(rest)

    def _ordered(self, tests: set[str]) -> list[str]:
        """Order by cost, a few tests of each file at a time."""
        by_file: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for test in tests:
            by_file[test.partition("::")[0]].append(((self.seconds[test] + 0.02) * self._files[test], test))
        keyed = []
        for file, costs in by_file.items():
            costs.sort()
            keyed += [(rank // 5, costs[0][0], file, cost, test) for rank, (cost, test) in enumerate(costs)]
        return [test for *_, test in sorted(keyed)]


def log_beside(coverage: Path) -> Path:
    # coverage.py removes files whose names begin with that of its database.
    return coverage.with_name(f"tests-of-{coverage.name}.log")


def read_log(log: Path) -> list[tuple[str, float, str]]:
    """Return events: a test with its start time and "started", or with its seconds and outcome."""
    if not log.exists():
        return []
    return [tuple(json.loads(line)) for line in log.read_text("utf-8").splitlines() if line.endswith("]")]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of pytest: the test that failed or hung, how many tests ran, whether all of them could."""

    failed: str = ""
    is_hang: bool = False
    count: int = 0
    is_complete: bool = True


def start_pytest(tree: Path, log: Path, *options: str, **environment: str) -> subprocess.Popen[bytes]:
    """Start pytest in a tree, with its own environment and our plugin."""
    log.unlink(missing_ok=True)
    command = ["nice", "-n", "10", str(tree / ".venv/bin/python"), "-m", "pytest", "-p", "plugin", *options]
    settings = os.environ | {"PYTHONPATH": str(HERE), "MUTATION_LOG": str(log)} | environment
    with log.with_suffix(".out").open("wb") as out:
        return subprocess.Popen(
            command, cwd=tree, env=settings, stdout=out, stderr=out, start_new_session=True
        )


def run_tests(tree: Path, tests: list[str], usual: dict[str, float], deadline: float) -> Run:
    """Run tests in their order until one fails, hangs, or the time is up."""
    log, listed = tree / ".mutation.log", tree / ".mutation.tests"
    listed.write_text(json.dumps(tests), "utf-8")
    files = sorted({test.partition("::")[0] for test in tests})
    process = start_pytest(tree, log, "-x", "-p", "no:cacheprovider", *files, MUTATION_TESTS=str(listed))
    hung = late = False
    while process.poll() is None and not (hung or late):
        time.sleep(0.3)
        now, events = time.time(), read_log(log)
        test, since, state = events[-1] if events else ("", now, "")
        hung = state == "started" and now - since > HANG_SECONDS + 10 * usual.get(test, 0)
        late = now > deadline
    if process.poll() is None:
        _stop(process)
    events = read_log(log)
    count = len({test for test, _, state in events if state == "started"})
    failed = next((test for test, _, state in events if state == "failed"), "")
    if hung or (late and not events):
        return Run(events[-1][0] if events else "collection", is_hang=True, count=count)
    if process.returncode not in {0, 1, 5} and not (failed or late):
        failed = events[-1][0] if events else "collection"
    return Run(failed, count=count, is_complete=not late)


def _stop(process: subprocess.Popen[bytes]) -> None:
    # An interrupted pytest still stops the servers that its fixtures started.
    process.send_signal(signal.SIGINT)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def judge(tree: Path, place: Place, coverage: Coverage, limit: float) -> dict[str, Any]:
    """Break one place in a scratch tree, run the tests that reach it, and restore it."""
    path, line = find(tree, place)
    module = core_of(tree)[path]
    tests = coverage.tests(path, module.statement_at(line))
    began, size, count, ignored = time.time(), FIRST_BATCH, 0, list[str]()
    answer: dict[str, Any] = {"noticed": False, "tests_known": len(tests), "complete": True}
    while tests:
        batch = tests[:size]
        module.path.write_text(module.broken(place, line), "utf-8")
        try:
            run = run_tests(tree, batch, coverage.seconds, began + limit)
        finally:
            module.path.write_text(module.source, "utf-8")
        count += run.count
        if run.failed:
            # A test that also fails in the whole source says nothing about the break.
            again = [run.failed] if "::" in run.failed else batch[:1]
            if not run_tests(tree, again, coverage.seconds, time.time() + limit).failed:
                answer |= {"noticed": True, "by": run.failed, "hang": run.is_hang}
                break
            ignored.append(run.failed)
            tests = [test for test in tests if test != run.failed]
        elif not run.is_complete:
            answer["complete"] = False
            break
        else:
            tests, size = tests[len(batch) :], size * 10
    return answer | {"tests_run": count, "ignored": ignored, "seconds": round(time.time() - began, 1)}


def stored_places() -> list[Place]:
    """Return the places with their overrides, but for those whose code no longer exists."""
    stored = json.loads(PLACES.read_text("utf-8"))
    return [
        Place(**(place | stored["overrides"].get(place["id"], {})))
        for place in stored["places"]
        if place["id"] not in stored["deleted"]
    ]


def scratch_clone(tree: Path, folder: Path) -> Path:
    """Clone a tree and install the clone, so that processes started by tests use it too."""
    subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", tree, folder], check=True)
    subprocess.run(["git", "checkout", "--quiet", "--detach", _commit(tree)], cwd=folder, check=True)
    subprocess.run(["make", "setup"], cwd=folder, check=True, capture_output=True)
    return folder


def _commit(tree: Path) -> str:
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=tree, check=True, capture_output=True, text=True
    ).stdout.strip()


def run_all(arguments: argparse.Namespace) -> None:
    """Judge all places, two at a time, and save each answer at once."""
    tree, coverage = arguments.tree, Coverage(arguments.coverage)
    file = HERE / "results" / f"{arguments.suite}.json"
    result: dict[str, Any] = {
        "suite": arguments.suite,
        "commit": _commit(tree),
        "places": {},
        "cpu_seconds": 0,
    }
    result |= {
        "machine": f"{platform.platform()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
    }
    if file.exists():
        stored = json.loads(file.read_text("utf-8"))
        if stored["commit"] != result["commit"]:
            sys.exit(f"{file} is of another commit: remove it, or name another suite.")
        result |= stored
    cpu_before = result["cpu_seconds"]
    todo = [
        place
        for place in stored_places()
        if (place.id in arguments.only if arguments.only else place.id not in result["places"])
    ]
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder, ThreadPoolExecutor(2) as pool:
        trees: queue.Queue[Path] = queue.Queue()
        for at in range(2):
            trees.put(scratch_clone(tree, Path(folder) / str(at)))

        def judge_one(place: Place) -> tuple[str, dict[str, Any]]:
            scratch = trees.get()
            try:
                return place.id, judge(scratch, place, coverage, arguments.limit)
            except NotFoundError as error:
                return place.id, {"noticed": False, "error": str(error)}
            finally:
                trees.put(scratch)

        for id_, answer in pool.map(judge_one, todo):
            print(id_, "noticed" if answer["noticed"] else "NOT NOTICED", answer, flush=True)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            result["places"][id_] = answer
            result["noticed"] = sum(each["noticed"] for each in result["places"].values())
            result["cpu_seconds"] = round(cpu_before + used.ru_utime + used.ru_stime)
            write_json(file, result | {"places": dict(sorted(result["places"].items()))})


def measure(arguments: argparse.Namespace) -> None:
    """Run the suite once with coverage, and log what each test took."""
    ignored = [option for folder in NOT_MEASURED for option in ("--ignore", folder)]
    options = ["--numprocesses", "2", "--dist", "worksteal", "--cov", source_root(arguments.tree).as_posix()]
    options += ["--cov-context", "test", "--cov-report", "", *(["-m", "not slow"] if arguments.fast else [])]
    log = log_beside(arguments.coverage)
    process = start_pytest(arguments.tree, log, *ignored, *options, COVERAGE_FILE=str(arguments.coverage))
    print(f"Running the suite; its output is in {log.with_suffix('.out')}")
    sys.exit(process.wait())


def choose_places(arguments: argparse.Namespace) -> None:
    coverage = Coverage(arguments.coverage)
    chosen = choose(arguments.tree, arguments.seed, arguments.count, coverage.is_executed)
    places = [{key: value for key, value in asdict(place).items() if key != "file"} for place in chosen]
    stored = {"seed": arguments.seed, "commit": _commit(arguments.tree), "places": places}
    stored |= {"overrides": {}, "deleted": {}}
    write_json(PLACES, stored)
    print(f"{len(places)} places:", dict(Counter(place.kind for place in chosen)))


def find_all(arguments: argparse.Namespace) -> None:
    """List the places that are not found, or found in a function of another name."""
    for place in stored_places():
        try:
            path, line = find(arguments.tree, place)
        except NotFoundError as error:
            print(f"{place.describe()}\n    {error}")
        else:
            function = core_of(arguments.tree)[path].function_at(line)
            if arguments.all or last_part(function) != last_part(place.function):
                print(f"{place.describe()}\n    found at {path}:{line} in {function}")


def apply(arguments: argparse.Namespace) -> None:
    place = next(each for each in stored_places() if each.id == arguments.id)
    path, line = find(arguments.tree, place)
    module = core_of(arguments.tree)[path]
    module.path.write_text(module.broken(place, line), "utf-8")
    print(place.describe())


def compare(arguments: argparse.Namespace) -> None:
    """List the places that one suite notices and the other does not."""
    old, new = (
        json.loads((HERE / "results" / f"{name}.json").read_text("utf-8"))["places"]
        for name in (arguments.old, arguments.new)
    )
    for place in stored_places():
        if place.id not in old or place.id not in new:
            print("not run", place.describe())
        elif old[place.id]["noticed"] != new[place.id]["noticed"]:
            print("LOST" if old[place.id]["noticed"] else "gained", place.describe())


def write_json(file: Path, value: object) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    actions = {"measure": measure, "choose": choose_places, "find": find_all, "apply": apply, "run": run_all}
    for name, action in (actions | {"compare": compare}).items():
        command = commands.add_parser(name)
        command.set_defaults(action=action)
        command.add_argument("--tree", type=lambda path: Path(path).resolve(), default=HERE.parents[1])
        if name in {"measure", "choose", "run"}:
            command.add_argument("--coverage", type=lambda path: Path(path).resolve(), required=True)
        match name:
            case "measure":
                command.add_argument(
                    "--fast", action="store_true", help="leave out slow tests, as `make test`"
                )
            case "choose":
                command.add_argument("--seed", type=int, required=True)
                command.add_argument("--count", type=int, default=60)
            case "find":
                command.add_argument("--all", action="store_true", help="also list the places that are found")
            case "apply":
                command.add_argument("id")
            case "run":
                command.add_argument("--suite", required=True, help="name of the results file")
                command.add_argument("--only", nargs="*", default=[], metavar="ID")
                command.add_argument("--limit", type=float, default=300, help="seconds for each place")
            case "compare":
                command.add_argument("old")
                command.add_argument("new")
    arguments = parser.parse_args()
    arguments.action(arguments)


if __name__ == "__main__":
    main()
