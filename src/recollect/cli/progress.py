"""How far long work has come: on standard error, and only where a person watches."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress as Bars

    from recollect.ports import Progress


@contextmanager
def progress(*titles: str) -> Iterator[tuple[Progress | None, ...]]:
    """A bar for each stage of the work, gone when all is done; None where nobody would see them."""
    if not sys.stderr.isatty():
        yield (None,) * len(titles)
        return
    with _bars() as bars:
        yield tuple(_stage(bars, title) for title in titles)


@contextmanager
def progress_if_any(title: str) -> Iterator[Progress]:
    """On a terminal: a bar that is made when there is something to show, for work that is seldom needed."""
    with ExitStack() as stack:
        stages: list[Progress] = []

        def advance(done: int, total: int | None) -> None:
            if not stages:
                stages.append(_stage(stack.enter_context(_bars()), title))
            stages[0](done, total)

        yield advance


@contextmanager
def steps(*names: str) -> Iterator[Progress | None]:
    """One bar for work of so many steps, with the name of the one that is under way."""
    if not sys.stderr.isatty():
        yield None
        return
    widest = max(map(len, names))
    with _bars() as bars:
        task = bars.add_task(names[0].ljust(widest), total=len(names), count="")

        def advance(done: int, _: int | None) -> None:
            name = names[min(done, len(names) - 1)]
            bars.update(task, completed=done, description=name.ljust(widest))

        yield advance


def _bars() -> Bars:
    from rich import progress as rich_progress  # only where there is a bar to draw
    from rich.console import Console

    columns = (
        rich_progress.TextColumn("{task.description}"),
        rich_progress.BarColumn(),
        # How far, or, where nobody knows how much there is, how many.
        rich_progress.TextColumn("{task.fields[count]}"),
        rich_progress.TaskProgressColumn(),
        rich_progress.TimeElapsedColumn(),
    )
    return rich_progress.Progress(*columns, console=Console(stderr=True), transient=True)


def _stage(bars: Bars, title: str) -> Progress:
    task = bars.add_task(title, total=None, visible=False, count="")

    def advance(done: int, total: int | None) -> None:
        count = "" if total else f"{done:,}"
        bars.update(task, completed=done, total=total, visible=True, count=count)

    return advance
