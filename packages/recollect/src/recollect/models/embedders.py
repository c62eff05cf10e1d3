"""Find the embedder for a name, and list which names work on this machine.

Importing this file loads no model library; a library is imported when its model is chosen.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from recollect.domain.errors import ModelUnavailable
from recollect.domain.lazy_dataclass import dataclass
from recollect.models.registry import (
    EMBEDDER,
    Availability,
    availabilities,
    availability,
    is_importable,
    make_once,
    packaged_model,
    ready_model,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.models.registry import PackagedModel
    from recollect.stores.port import Embedder


MULTILINGUAL = "e5-memory"
"""Our model for languages other than English."""
SUCCESSORS = {"arctic-s": "arctic-memory", "e5-small": "e5-memory"}
"""Our former models, and the ones that new stores get instead."""
WORDS_ONLY = "none"
"""The name for no model: searches use words alone."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Settings for a model. Each kind of model reads only some of them."""

    threads: int = 1
    """Threads for each run of a local model. More threads leave fewer cores for other texts."""
    base_url: str | None = None
    """The address of the service. Default: its public address, or the local one of Ollama."""
    key: str | None = field(default=None, repr=False)
    dims: int | None = None
    """The width of vectors to request from a hosted model; None for its default."""
    timeout_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class DefaultModel:
    """The model to use if no name is given."""

    name: str
    reason: str


def embedder_named(name: str, options: ModelOptions | None = None) -> Embedder | None:
    """Return the embedder for a short name (`arctic-s`) or a full name from a store (`arctic-s@f93ff225`).

    Returns None for the name `none`. Nothing is loaded and no server is contacted before the first text.
    """
    options = options or ModelOptions()
    kind, colon, rest = name.strip().partition(":")
    if colon and kind in _EXAMPLES:
        if not rest:
            example = f"{kind}:{_EXAMPLES[kind]}"
            raise ModelUnavailable(
                f"Which model of {kind}? Write its name after the colon, as in {example!r}."
            )
        return _external_embedder(kind, rest, options)
    short, _, revision = kind.partition("@")
    if colon or not short:
        raise _unknown_model(name)
    match short:
        case "none":
            return None
        case "hashing":
            from recollect.models.hashing import HashingEmbedder  # noqa: PLC0415  # only when asked for

            version, _, dims = revision.partition("-")
            if version not in {"", "1"} or not (dims or "1").isdecimal():
                raise _other_revision(f"hashing@{revision}", "hashing@1")
            return HashingEmbedder(int(dims)) if dims else HashingEmbedder()
        case _ if short not in EMBEDDER.ours and packaged_model(short) is None:
            raise _unknown_model(short)
    try:
        model = ready_model(short)
    except ModelUnavailable as error:
        # A revision means that this is the model of a store.
        other = successor_of(short) if revision else None
        if other is None:
            raise
        raise ModelUnavailable(
            f"{error}; or recompute this store's vectors with {other!r}: recollect reindex"
        ) from error
    if revision not in {"", model.revision, *model.compatible}:
        raise _other_revision(f"{short}@{revision}", model.full_name)
    # A store keeps the revision that it has, so that all its vectors have one name.
    return _packaged_embedder(replace(model, revision=revision or model.revision), options.threads)


def default_choice() -> DefaultModel:
    """Return the best model that can run here, and why it was chosen."""
    preferred = availability(EMBEDDER.ours[0])
    if preferred.ready:
        return DefaultModel(preferred.name, "the default model")
    for other in map(availability, EMBEDDER.ours[1:]):
        if other.ready:
            return DefaultModel(other.name, f"since the default is not ready: {preferred.reason}")
    return DefaultModel(
        WORDS_ONLY, f"words only, since no model is ready: {preferred.reason}; run: {preferred.command}"
    )


def successor_of(name: str) -> str | None:
    """Return the model that took the place of a former default model; None if it is not ready."""
    other = SUCCESSORS.get(name.partition("@")[0])
    return other if other is not None and availability(other).ready else None


def multilingual_install_command() -> str | None:
    """Return the command that installs the multilingual model; None if it is ready."""
    state = availability(MULTILINGUAL)
    return None if state.ready else state.command or state.reason


@lru_cache(maxsize=16)
def reads_only_english(name: str) -> bool:
    """Whether a packaged model is for English only; False for services and other libraries."""
    try:
        model = packaged_model(name.partition("@")[0])
    except ModelUnavailable:
        return False
    return model is not None and model.languages == ("en",)


def embedder_availabilities() -> Sequence[Availability]:
    """List every kind of model, ready or not: ours first, then other packages, libraries and services."""
    hashing = Availability("hashing", ready=True, reason="compares words, not meaning; always installed")
    found = [*availabilities(EMBEDDER), hashing]
    for kind, example in _EXAMPLES.items():
        name, library = f"{kind}:…", _library(kind)
        if is_importable(library.replace("-", "_")):
            found.append(Availability(name, ready=True, reason=f"for example {kind}:{example}"))
        else:
            reason = f"the library {library.replace('-', '_')!r} is not installed"
            found.append(Availability(name, ready=False, reason=reason, command=f"pip install {library}"))
    return found


@make_once
def _packaged_embedder(model: PackagedModel, threads: int) -> Embedder:
    from recollect.models.packaged import PackagedEmbedder  # noqa: PLC0415  # only when asked for

    return PackagedEmbedder(model, threads)


def _external_embedder(kind: str, model: str, options: ModelOptions) -> Embedder:
    """Return an embedder that a service or another library runs."""
    from recollect.models.hosted import LIBRARIES, HostedEmbedder  # noqa: PLC0415  # only when asked for

    if kind in LIBRARIES:
        return LIBRARIES[kind](model, f"pip install {_library(kind)}", options.threads)
    name, at, dims = model.rpartition("@")
    if at and dims.isdecimal():
        return HostedEmbedder(kind, name, replace(options, dims=int(dims)))
    return HostedEmbedder(kind, model, options)


_EXAMPLES = {
    "openai": "text-embedding-3-small",
    "gemini": "gemini-embedding-001",
    "ollama": "nomic-embed-text",
    "fastembed": "BAAI/bge-small-en-v1.5",
    "sentence-transformers": "all-MiniLM-L6-v2",
}
"""One example for each service or library that runs models (`openai:…`)."""


def _library(kind: str) -> str:
    """Return the package to install for models of this kind."""
    return kind if kind in {"fastembed", "sentence-transformers"} else "httpx"


def _unknown_model(name: str) -> ModelUnavailable:
    names = ", ".join([*EMBEDDER.ours, "hashing", WORDS_ONLY, *(f"{kind}:…" for kind in _EXAMPLES)])
    return ModelUnavailable(f"No model named {name!r}; there are: {names}.")


def _other_revision(wanted: str, found: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"This store's vectors were made by {wanted!r}, but {found!r} is installed, and their vectors cannot "
        f"be compared; run `recollect reindex` to recompute them, or install the revision that made them."
    )
