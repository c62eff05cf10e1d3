"""From a name to a re-ranker; whether it works on this machine, and why not.

Importing this file imports no library of any model.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from recollect.embedders.choose import Availability
from recollect.embedders.optional import is_there
from recollect.errors import ModelUnavailable
from recollect.rerankers.packaged import PackagedReranker, distribution_of, packaged_reranker

if TYPE_CHECKING:
    from recollect.ports import Reranker

OURS = ("minilm",)
"""The re-rankers that we package, the preferred first."""
_LIBRARIES = ("onnxruntime", "tokenizers")


def reranker_named(name: str, threads: int = 1) -> Reranker:
    """The re-ranker of a short name. Nothing is loaded before the first query."""
    state = availability(name)
    packaged = packaged_reranker(name) if state.ready else None
    if packaged is None:
        remedy = "" if state.command is None else f"; run: {state.command}"
        raise ModelUnavailable(f"{state.reason[0].upper()}{state.reason[1:]}{remedy}")
    # Two threads that ask at once would each make one, and each would load the weights.
    with _MAKING:
        return _made(packaged, threads)


def availability(name: str) -> Availability:
    """Whether a re-ranker is installed with all it needs."""
    command = install_command(name)
    try:
        packaged = packaged_reranker(name)
    except ModelUnavailable as error:
        return Availability(name, ready=False, reason=str(error), command=command)
    if packaged is None:
        if name not in OURS:
            unknown = f"no re-ranker named {name[:40]!r} is installed; of ours there are: {', '.join(OURS)}"
            return Availability(name, ready=False, reason=unknown)
        reason = f"the re-ranker {name!r} is not installed"
        return Availability(name, ready=False, reason=reason, command=command)
    missing = [library for library in _LIBRARIES if not is_there(library)]
    if missing:
        reason = f"the re-ranker {name!r} is installed, but not {' and '.join(missing)}"
        return Availability(name, ready=False, reason=reason, command=f"pip install {' '.join(missing)}")
    return Availability(name, ready=True, reason=f"{packaged.title} ({packaged.full_name})")


def install_command(name: str) -> str:
    folder = f"./models/rerank-{name}"
    what = "'recollect-memory[rerank]'" if name == OURS[0] else distribution_of(name)
    return f"pip install {what} (in a clone of Recollect: pip install {folder})"


_MAKING = Lock()


@lru_cache(maxsize=4)
def _made(packaged: PackagedReranker, threads: int) -> Reranker:
    """One for the whole process, however many stores are open."""
    from recollect.rerankers.cross_encoder import CrossEncoder  # noqa: PLC0415  # loads NumPy

    return CrossEncoder(packaged, threads)
