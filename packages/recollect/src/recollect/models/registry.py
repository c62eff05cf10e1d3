"""The installed models: embedders and re-rankers, each a package with data and a `model.json`.

A package registers its model by an entry point of the group `recollect.models`: the model's short name, and
the package with the files. Ours are found by package name instead, since reading entry points takes ten times
as long.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from recollect.domain.errors import ModelUnavailable
from recollect.domain.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from importlib.metadata import EntryPoint

GROUP = "recollect.models"

Made = TypeVar("Made")
_Given = ParamSpec("_Given")


@dataclass(frozen=True, slots=True)
class ModelKind:
    noun: str
    """The word for this kind in messages."""
    prefix: str
    """The prefix of our packages' names."""
    architectures: tuple[str, ...]
    ours: tuple[str, ...]
    """Our models, the preferred one first."""
    extra: str | None = None
    """The extra of `recollect-memory` that installs the preferred one."""


EMBEDDER = ModelKind(
    "model",
    "recollect_model_",
    ("onnx", "static"),
    ("arctic-memory", "e5-memory", "arctic-s", "e5-small", "potion"),
)
RERANKER = ModelKind("re-ranker", "recollect_model_rerank_", ("cross-encoder",), ("minilm",), "rerank")


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """The descriptor of a model, with the paths of its files."""

    name: str
    revision: str
    """Changes with anything that changes vectors or scores: weights, tokenizer, pooling, prefixes."""
    title: str
    languages: tuple[str, ...]
    architecture: Literal["onnx", "static", "cross-encoder"]
    tokens: int | None
    """Maximum number of tokens in one run of the model; None without a limit."""
    weights: Path
    tokenizer: Path
    distribution: str
    """The name of its distribution on the package index."""
    graph: Path | None = None
    """The optimised network, without its large weights, which stay in their file. None if it is optimised at
    every start."""
    dims: int = 0
    """For embedders only, as are all following fields."""
    pooling: Literal["cls", "mean"] = "mean"
    query_prefix: str = ""
    document_prefix: str = ""
    centre: Path | None = None
    rotation: Path | None = None
    """None if the first numbers of a vector matter most anyway, as after Matryoshka training."""
    token_centre: Path | None = None
    """The mean of its token vectors; None if tokens are not compared."""
    compatible: tuple[str, ...] = ()
    """Earlier revisions whose vectors may be compared with those of this one."""

    @property
    def full_name(self) -> str:
        """The name stored with vectors; vectors of different names are never compared."""
        return f"{self.name}@{self.revision}"

    @property
    def libraries(self) -> tuple[str, ...]:
        """The modules that running this model imports."""
        return ("tokenizers",) if self.architecture == "static" else ("onnxruntime", "tokenizers")


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a name, or a kind of names such as `ollama:…`, works on this machine."""

    name: str
    ready: bool
    reason: str
    """A description of the model if it is ready, otherwise why it is not."""
    command: str | None = None
    """The command that makes it ready."""


def packaged_model(name: str, kind: ModelKind = EMBEDDER) -> PackagedModel | None:
    """Return the installed model with this short name."""
    found = (read_descriptor(folder, distribution) for folder, distribution in _packages(name, kind))
    return next((model for model in found if model.architecture in kind.architectures), None)


def ready_model(name: str, kind: ModelKind = EMBEDDER) -> PackagedModel:
    """Return the installed model with this short name, if its libraries are installed."""
    state = availability(name, kind)
    model = packaged_model(name, kind) if state.ready else None
    if model is None:
        remedy = "" if state.command is None else f"; run: {state.command}"
        raise ModelUnavailable(f"{state.reason[0].upper()}{state.reason[1:]}{remedy}")
    return model


def availability(name: str, kind: ModelKind = EMBEDDER) -> Availability:
    """Return whether a model and its libraries are installed."""

    def missing(reason: str, command: str | None = None) -> Availability:
        return Availability(name, ready=False, reason=reason, command=command)

    try:
        model = packaged_model(name, kind)
    except ModelUnavailable as error:
        return missing(str(error), reinstall_command(_packages(name, kind)[0][1]))
    if model is None and name not in kind.ours:
        there = f"ours are: {', '.join(kind.ours)}"
        return missing(f"no {kind.noun} named {name[:40]!r} is installed; {there}")
    if model is None:
        distribution = _distribution(kind.prefix + name)
        package = f"'recollect-memory[{kind.extra}]'" if kind.extra else distribution
        folder = distribution.removeprefix("recollect-model-")
        command = f"pip install {package} (in a clone of Recollect: pip install ./models/{folder})"
        return missing(f"the {kind.noun} {name!r} is not installed", command)
    libraries = [library for library in model.libraries if not is_importable(library)]
    if libraries:
        reason = f"the {kind.noun} {name!r} is installed, but lacks {' and '.join(libraries)}"
        return missing(reason, f"pip install {' '.join(libraries)}")
    return Availability(name, ready=True, reason=f"{model.title} ({model.full_name})")


def availabilities(kind: ModelKind = EMBEDDER) -> Sequence[Availability]:
    """List our models, installed or not, then those that other packages register."""
    others = sorted({point.name for point in _entry_points()} - set(kind.ours))
    states = [availability(name, kind) for name in (*kind.ours, *others)]
    # Leave out models of another kind: these are not ready, and no command installs them.
    return [state for state in states if state.ready or state.command]


def make_once(make: Callable[_Given, Made]) -> Callable[_Given, Made]:
    """Cache the results of `make` by its arguments. Two threads never make the same one twice."""
    cached = lru_cache(maxsize=8)(make)
    lock = Lock()

    def make_or_reuse(*given: _Given.args, **named: _Given.kwargs) -> Made:
        with lock:
            return cached(*given, **named)  # type: ignore[arg-type]  # all arguments are hashable

    return make_or_reuse


def reinstall_command(distribution: str) -> str:
    return f"pip install --force-reinstall --no-deps {distribution}"


def is_importable(module: str) -> bool:
    """Whether the module could be imported, without importing it."""
    with suppress(ImportError, ValueError):
        return find_spec(module) is not None
    return False


def read_descriptor(folder: Path, distribution: str | None = None) -> PackagedModel:
    """Read `model.json` in the folder, but not the weights."""
    try:
        fields = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        return _model_from(fields, folder, distribution or _distribution(folder.name))
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"The model package {folder.name} is damaged: model.json: {error!r}"
        raise ModelUnavailable(f"{problem}; install it again") from error


def _model_from(fields: Mapping[str, Any], folder: Path, distribution: str) -> PackagedModel:
    architecture = fields["architecture"]
    names = ["name", "revision", "title", "architecture", "tokens"]
    if architecture in EMBEDDER.architectures:
        names += ["dims", "pooling", "query_prefix", "document_prefix"]
    elif architecture not in RERANKER.architectures:
        raise ValueError(f"unknown architecture: {architecture}")
    described = {name: fields[name] for name in names}
    if described.get("pooling") not in {None, "cls", "mean"}:
        raise ValueError(f"unknown pooling: {described['pooling']}")
    optional = ("graph", "centre", "rotation", "token_centre")
    files = {name: folder / fields[name] for name in optional if fields.get(name)}
    return PackagedModel(
        languages=tuple(fields["languages"]),
        compatible=tuple(fields.get("compatible", ())),
        weights=folder / fields["weights"],
        tokenizer=folder / "tokenizer.json",
        distribution=distribution,
        **described,
        **files,
    )


def _packages(name: str, kind: ModelKind) -> Sequence[tuple[Path, str]]:
    """Return the packages that may contain the model, with their names on the package index."""
    module = kind.prefix + name.replace("-", "_")
    folder = _folder(module)
    if folder is not None:
        return [(folder, _distribution(module))]
    if name in kind.ours:
        return []
    points = [(point, _folder(point.value)) for point in _entry_points() if point.name == name]
    return [(folder, point.dist.name if point.dist else name) for point, folder in points if folder]


def _entry_points() -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # noqa: PLC0415  # takes longer than all the rest here

    return entry_points(group=GROUP)


def _folder(package: str) -> Path | None:
    """Return the folder of an installed package without importing it."""
    with suppress(ImportError, ValueError):
        spec = find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            return Path(spec.submodule_search_locations[0])
    return None


def _distribution(module: str) -> str:
    return module.replace("_", "-")
