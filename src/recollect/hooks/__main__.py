"""`python -m recollect.hooks CLIENT EVENT`: what a client's hook starts. It loads as little as it can."""

from __future__ import annotations

import sys
import time

BEGAN = time.monotonic() - time.process_time()
"""About when this process began: what Python needed to start counts, too."""

if __name__ == "__main__":
    from recollect.hooks.run import run_hook

    run_hook(sys.argv[1:], BEGAN)
