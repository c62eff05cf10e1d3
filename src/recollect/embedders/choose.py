"""From a name to an embedder; which names work on this machine, and why others do not.

Importing this file imports no library of any model: what a name needs is imported when the name is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from recollect.embedders.optional import is_there
from recollect.embedders.packaged import Packaged, packaged, packaged_names
from recollect.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.ports import Embedder

WORDS_ONLY = "none"
"""The name of having no model: searches go by words alone."""

OURS = ("arctic-s", "e5-small", "potion")
"""The models that we package, the preferred first."""


@dataclass(frozen=True, slots=True)
class Options:
    """What settings may say about a model. Each kind of model reads what concerns it."""

    threads: int = 1
    """Of one run of a local model. Two were no faster than one on a busy machine."""
    base_url: str | None = None
    """None: the public address of the service, or the local one of Ollama."""
    key: str | None = field(default=None, repr=False)
    dims: int | None = None
    """Ask a hosted model for vectors of this width; None: its own."""
    timeout_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a name, or every name of a kind such as `ollama:…`, would work here."""

    name: str
    ready: bool
    reason: str
    """What it is if it is ready; else what is missing."""
    command: str | None = None
    """What to run to make it ready."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The model to use where nobody named one."""

    name: str
    reason: str


def embedder_named(name: str, options: Options | None = None) -> Embedder | None:
    """The embedder of a short name (`arctic-s`) or of the full name in a store (`arctic-s@f93ff225`).

    None for the name `none`. Nothing is loaded and no server is asked before the first text.
    """
    options = options or Options()
    kind, colon, rest = name.strip().partition(":")
    if colon and kind in _KINDS:
        if not rest:
            raise ModelUnavailable(
                f"Which model of {kind}? Write its name after the colon, as in {_EXAMPLES[kind]!r}."
            )
        return _KINDS[kind](kind, rest, options)
    short, _, revision = kind.partition("@")
    if colon or not short:
        raise _unknown(name)
    match short:
        case "none":
            return None
        case "hashing":
            return _hashing(revision)
        case _:
            return _of_package(short, revision, options)


def default_choice() -> Choice:
    """The best model that is installed and can run here, and why it was chosen."""
    preferred = availability(OURS[0])
    if preferred.ready:
        return Choice(preferred.name, "the default model")
    for other in map(availability, OURS[1:]):
        if other.ready:
            return Choice(other.name, f"since the default is not ready: {preferred.reason}")
    return Choice(
        WORDS_ONLY, f"words only, since no model is ready: {preferred.reason}; run: {preferred.command}"
    )


def installed() -> Sequence[Availability]:
    """Every kind of model, ready or not: ours first, then other packages, libraries and services."""
    others = [name for name in packaged_names() if name not in OURS]
    local = [availability(name) for name in (*OURS, *others)]
    hashing = Availability("hashing", ready=True, reason="compares words, not meaning; needs nothing")
    return [*local, hashing, *(_library(kind) for kind in _KINDS)]


def availability(name: str) -> Availability:
    """Whether a packaged model is installed with all it needs."""
    command = install_command(name)
    try:
        model = packaged(name)
    except ModelUnavailable as error:
        return Availability(name, ready=False, reason=str(error), command=command)
    if model is None:
        return Availability(name, ready=False, reason=f"the model {name!r} is not installed", command=command)
    missing = [library for library in model.libraries if not is_there(library)]
    if missing:
        reason = f"the model {name!r} is installed, but not {' and '.join(missing)}"
        return Availability(name, ready=False, reason=reason, command=f"pip install {' '.join(missing)}")
    return Availability(name, ready=True, reason=f"{model.title} ({model.full_name})")


def install_command(name: str) -> str:
    """What installs a model, a library or what a service needs."""
    if name in _SERVICES:
        return "pip install httpx"
    if name in _KINDS:
        return f"pip install {name}"
    return f"pip install recollect-model-{name} (in a clone of Recollect: pip install ./models/{name})"


def _library(kind: str) -> Availability:
    module = "httpx" if kind in _SERVICES else kind.replace("-", "_")
    name = f"{kind}:…"
    if not is_there(module):
        reason = f"the library {module!r} is not installed"
        return Availability(name, ready=False, reason=reason, command=install_command(kind))
    return Availability(name, ready=True, reason=f"for example {_EXAMPLES[kind]}")


def _of_package(name: str, revision: str, options: Options) -> Embedder:
    model = packaged(name)
    if model is None and name not in OURS:
        raise _unknown(name)
    state = availability(name)
    if model is None or not state.ready:
        raise ModelUnavailable(f"{state.reason.capitalize()}; run: {state.command}")
    if revision not in {"", model.revision}:
        raise _other_revision(f"{name}@{revision}", model.full_name)
    return _running(model, options)


def _running(model: Packaged, options: Options) -> Embedder:
    # Two threads that ask at once would each make one, and each would load the weights.
    with _MAKING:
        return _made(model, options.threads)


_MAKING = Lock()


@lru_cache(maxsize=8)
def _made(model: Packaged, threads: int) -> Embedder:
    """One for the whole process, whether it was asked for by its short name or by the name in a store."""
    if model.architecture == "static":
        from recollect.embedders.static import StaticEmbedder  # noqa: PLC0415  # only when asked for

        return StaticEmbedder(model)
    from recollect.embedders.onnx import OnnxEmbedder  # noqa: PLC0415  # only when asked for

    return OnnxEmbedder(model, threads)


def _hashing(revision: str) -> Embedder:
    from recollect.embedders.hashing import HashingEmbedder  # noqa: PLC0415  # only when asked for

    version, _, dims = revision.partition("-")
    if version not in {"", "1"} or not (dims or "1").isdecimal():
        raise _other_revision(f"hashing@{revision}", "hashing@1")
    return HashingEmbedder(int(dims)) if dims else HashingEmbedder()


def _hosted(kind: str, rest: str, options: Options) -> Embedder:
    from recollect.embedders.hosted import HostedEmbedder  # noqa: PLC0415  # only when asked for

    model, at, dims = rest.rpartition("@")
    if at and dims.isdecimal():
        return HostedEmbedder(kind, model, replace(options, dims=int(dims)))
    return HostedEmbedder(kind, rest, options)


def _fastembed(kind: str, rest: str, options: Options) -> Embedder:
    from recollect.embedders.libraries import FastembedEmbedder  # noqa: PLC0415  # only when asked for

    return FastembedEmbedder(rest, install_command(kind), options.threads)


def _sentence_transformers(kind: str, rest: str, _options: Options) -> Embedder:
    from recollect.embedders.libraries import SentenceTransformersEmbedder  # noqa: PLC0415  # only when asked for

    return SentenceTransformersEmbedder(rest, install_command(kind))


_SERVICES = ("openai", "gemini", "ollama")

_KINDS: dict[str, Callable[[str, str, Options], Embedder]] = {
    "openai": _hosted,
    "gemini": _hosted,
    "ollama": _hosted,
    "fastembed": _fastembed,
    "sentence-transformers": _sentence_transformers,
}

_EXAMPLES = {
    "openai": "openai:text-embedding-3-small",
    "gemini": "gemini:gemini-embedding-001",
    "ollama": "ollama:nomic-embed-text",
    "fastembed": "fastembed:BAAI/bge-small-en-v1.5",
    "sentence-transformers": "sentence-transformers:all-MiniLM-L6-v2",
}


def _unknown(name: str) -> ModelUnavailable:
    names = ", ".join([*OURS, "hashing", WORDS_ONLY, *(f"{kind}:…" for kind in _KINDS)])
    return ModelUnavailable(f"No model named {name!r}; there are: {names}.")


def _other_revision(wanted: str, found: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"This store's vectors were made by {wanted!r}, but {found!r} is installed, and their vectors cannot "
        f"be compared; run `recollect reindex` to make them anew, or install the revision that made them."
    )
