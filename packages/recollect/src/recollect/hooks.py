"""`python -m recollect.hooks CLIENT EVENT` runs a hook. It loads as little as possible."""

from __future__ import annotations

import os
import sys
import time

_OLDEST_SECONDS = 60.0


def process_began() -> float:
    """Return when this process started, before Python was loaded, on the monotonic clock."""
    now, used = time.monotonic(), time.process_time()
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return now - used  # not on Linux; the process is at least as old as its CPU time
    return now - (max(age, used) if age < _OLDEST_SECONDS else used)


if __name__ == "__main__":
    from recollect.agents.hook import run_hook

    run_hook(sys.argv[1:], process_began())
