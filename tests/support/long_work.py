"""Work that goes on for as long as a test wants, to be given up or waited for."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import anyio.to_thread
from conftest import PATIENCE_SECONDS

from recollect.operations.operation import Operation, OperationCall, operation


@dataclass(frozen=True)
class Steps:
    steps: int


class Toil:
    """Work in steps: a few more once its caller has given up, then it writes that it came to its end."""

    def __init__(self, steps_left: int) -> None:
        self.steps_left = steps_left
        self.begun, self.given_up, self.ended = threading.Event(), threading.Event(), threading.Event()

    def run(self, call: OperationCall) -> Steps:
        """Work in steps."""
        try:
            step = 0
            while self.steps_left:
                self.steps_left -= self.given_up.is_set()
                step += 1
                call.progress(step, None)
                self.begun.set()
            call.engine.remember("The work was done to its end")
            return Steps(step)
        finally:
            self.ended.set()

    def operation(self, *, reads: bool) -> Operation:
        return operation("Toil", read_only=reads)(self.run)

    async def until(self, event: threading.Event) -> None:
        assert await anyio.to_thread.run_sync(event.wait, PATIENCE_SECONDS)
