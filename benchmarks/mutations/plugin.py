"""A pytest plugin that logs each test, and runs only listed tests in the listed order."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any


def _log(*event: object) -> None:
    # Workers of pytest-xdist report to the process that started them, which logs for all.
    if "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(os.environ["MUTATION_LOG"]).open("a", encoding="utf-8") as log:
            log.write(json.dumps(event) + "\n")


def pytest_runtest_logstart(nodeid: str) -> None:
    _log(nodeid, time.time(), "started")


def pytest_runtest_logreport(report: Any) -> None:
    _log(report.nodeid, report.duration, report.outcome)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    if "MUTATION_TESTS" in os.environ:
        wanted = json.loads(Path(os.environ["MUTATION_TESTS"]).read_text("utf-8"))
        order = {_short_id(test): at for at, test in enumerate(wanted)}
        chosen = [item for item in items if _short_id(item.nodeid) in order]
        items[:] = sorted(chosen, key=lambda item: order[_short_id(item.nodeid)])


def _short_id(test: str) -> str:
    """Leave out the backend of anyio: whether an id has it depends on the other collected files."""
    return test.replace("[asyncio-", "[").replace("[asyncio]", "")
