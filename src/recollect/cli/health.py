"""What `doctor` looks at, one function for each thing."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import apsw

from recollect.bootstrap import embedder, engine, model_name, reranker
from recollect.cli.dates import moment
from recollect.cli.replies import Check
from recollect.cli.store_file import look_at
from recollect.cli.upkeep import last_dream, schedule, session_count
from recollect.cli.version import version
from recollect.cli.wording import counted, size
from recollect.embedders.choose import WORDS_ONLY, default_choice, embedder_availabilities
from recollect.errors import ModelUnavailable, RecollectError
from recollect.extractors.choose import extractor_named
from recollect.models.registry import RERANKER, availability, packaged_model
from recollect.records import Filter
from recollect.settings import AUTO, config_path
from recollect.stores.sqlite.connection import APPLICATION_ID, migrations
from recollect.text.languages import mostly_other_than_english

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recollect.cli.store_file import StoreFile
    from recollect.engine.engine import Engine
    from recollect.ports import Vector
    from recollect.records import Counts
    from recollect.settings import Settings

_SAMPLE = 300
"""Memories of a scope whose texts are read to guess at their language."""
_MULTILINGUAL = "e5-small"
# Compares words, not meaning: for tests.
_NO_ADVICE = frozenset({"hashing"})


def program() -> Iterator[Check]:
    yield Check("ok", "Recollect", version())
    yield Check("ok", "Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield Check("ok", "SQLite", f"{apsw.sqlite_lib_version()}, brought by apsw {apsw.apsw_version()}")


def settings(found: Settings) -> Iterator[Check]:
    path = config_path()
    said = str(path) if path.exists() else f"defaults and environment; no file at {path}"
    yield Check("ok", "settings", said)
    if found.owner or found.agent:
        yield Check("ok", "scope", f"owner {found.owner!r}, agent {found.agent!r}")
    yield _extractor(found)


def _extractor(found: Settings) -> Check:
    """Whether there is such a thing; a server is not asked."""
    try:
        drawing = extractor_named(found.extractor)
    except RecollectError as error:
        return Check("problem", "extractor", str(error), "Correct the setting `extractor`.")
    if drawing is None:
        return Check("note", "extractor", "none: no notes are drawn out of messages")
    if found.extractor.startswith("openai:") and not (found.extractor_key or found.extractor_url):
        said = f"{drawing.name} needs a key, or the address of a server that needs none"
        return Check("problem", "extractor", said, "Set extractor_key or extractor_url.")
    return Check("ok", "extractor", f"{drawing.name} draws notes out of messages")


def store_file(path: Path) -> StoreFile:
    return look_at(path, APPLICATION_ID, len(migrations()))


def file_check(path: Path, file: StoreFile) -> Check:  # noqa: PLR0911  # one line for each state of a file
    match file.state:
        case "missing" | "empty" if not file.writable:
            remedy = "Make the folder writable, or name another file with --store."
            return Check("problem", "store", f"{path} is not there and cannot be made", remedy)
        case "missing" | "empty":
            return Check(
                "note",
                "store",
                f"{path} is not there yet",
                "recollect remember, recollect add or recollect import makes it",
            )
        case "folder":
            return Check("problem", "store", f"{path} is a folder", "Name a file in it with --store.")
        case "unreadable":
            return Check("problem", "store", f"{path} cannot be read", "Give yourself permission to read it.")
        case "foreign":
            remedy = "It was left as it is; name another file with --store, or put back a backup."
            return Check("problem", "store", f"{path} is not a Recollect store", remedy)
        case "newer":
            said = f"{path} was written by a newer Recollect (schema {file.schema})"
            return Check("problem", "store", said, "pip install --upgrade recollect")
        case "older":
            said = f"{path} has the older schema {file.schema}; the next command brings it up to date"
            return Check("note", "store", said, "recollect backup FILE, if you want a copy from before")
        case "current" if not file.writable:
            remedy = "Make the file and its folder writable: a store keeps its log beside itself."
            return Check("problem", "store", f"{path} cannot be written to", remedy)
        case _:
            return Check("ok", "store", f"{path}, {size(file.bytes)}, schema {file.schema}")


def store(found: Settings) -> Iterator[Check]:
    """What is inside a file that looked well from outside."""
    try:
        with engine(found) as memory:
            yield from _inside(memory, found)
    except RecollectError as error:
        yield Check("problem", "store", str(error), "recollect restore BACKUP, if you have one")


def model(found: Settings, name: str) -> Check:
    """Whether a model works, by letting it work on a word."""
    if name == WORDS_ONLY:
        return _words_only(found)
    try:
        _vector(found, name)
    except ModelUnavailable as error:
        return Check("problem", "model", str(error), "recollect models shows what is ready")
    return Check("ok", "model", f"{name} is ready")


def preferred_model(found: Settings) -> Check:
    return model(found, model_name(found))


def other_models() -> Check:
    ready = [each.name for each in embedder_availabilities() if each.ready and each.name not in _NO_ADVICE]
    local = [name for name in ready if ":" not in name]
    said = f"that run here: {', '.join(local) or 'none'}; `recollect models` lists all"
    return Check("ok", "models", said)


def reranking(found: Settings) -> Check:
    """Whether the first hits are read again, and by what; tried out where they are."""
    if found.rerank == "off":
        state = availability(RERANKER.ours[0], RERANKER)
        said = f"{state.name} is there for --rerank" if state.ready else state.reason
        return Check("ok", "re-ranking", f"off; {said}")
    try:
        reader = reranker(found)
        reader.scores("tea", ["a cup of tea"])
    except ModelUnavailable as error:
        return Check("note", "re-ranking", "hits keep the order of their profile", str(error))
    return Check("ok", "re-ranking", f"{reader.name} reads the first hits again")


def _inside(memory: Engine, found: Settings) -> Iterator[Check]:
    counts, used = memory.counts(), memory.model
    yield Check("ok", "holds", _contents(counts, session_count(memory)))
    name = model_name(found) if used is None else used.name
    ready = model(found, name)
    yield ready
    yield from _preference(found, name)
    yield _waiting(counts)
    if ready.mark == "ok" and used is not None:
        yield _cache(memory, found, name)
    yield from _language(memory, name)
    yield from _signals(memory)
    yield _dreams(memory, found)


def _contents(counts: Counts, sessions: int) -> str:
    held = [
        (counts.entities, counted(counts.entities, "entity", "entities")),
        (counts.observations, counted(counts.observations, "observation")),
        (counts.relations, counted(counts.relations, "relation")),
        (counts.notes, counted(counts.notes, "note")),
        (counts.messages, f"{counted(counts.messages, 'message')} in {counted(sessions, 'session')}"),
        (counts.forgotten, f"{counts.forgotten:,} forgotten"),
    ]
    return ", ".join(said for number, said in held if number) or "nothing yet"


def _words_only(found: Settings) -> Check:
    if found.model == AUTO:
        return Check("note", "model", f"no model: {default_choice().reason}")
    return Check("note", "model", "none, as the settings say: searches go by words alone")


def _preference(found: Settings, name: str) -> Iterator[Check]:
    """A store keeps its model, whatever is preferred since; that may surprise who changed the setting."""
    wanted = model_name(found)
    if found.model != AUTO and wanted != WORDS_ONLY and wanted.partition("@")[0] != name.partition("@")[0]:
        said = f"the settings prefer {wanted}, but this store's vectors are of {name}"
        yield Check("note", "model", said, f"recollect reindex --model {wanted}")


def _waiting(counts: Counts) -> Check:
    if not counts.due:
        return Check("ok", "vectors", f"all {counts.passages:,} passages have theirs")
    said = f"{counts.due:,} of {counts.passages:,} passages wait for theirs; until then only words find them"
    return Check("note", "vectors", said, "recollect reindex")


def _cache(memory: Engine, found: Settings, name: str) -> Check:
    """A search brings the cache up, and with it whatever hinders it."""
    vector = _vector(found, name)
    if vector is not None:
        with memory.store.read() as view:
            view.by_meaning(vector, 1, Filter(found.owner, found.agent))
    trouble = getattr(memory.store, "cache_trouble", None)
    if trouble is None:
        return Check("ok", "vector cache", "in order")
    said = f"not shared between programs: {trouble}"
    return Check("note", "vector cache", said, "Searches are right, but each program loads its own copy.")


def _signals(memory: Engine) -> Iterator[Check]:
    """What any process could not note, as far as the store has learnt of it, and what this one could not."""
    signals = memory.parts.signals
    missed = memory.counts().unnoted + signals.failures
    if missed:
        why = f": {signals.last_failure}" if signals.last_failure else " so far"
        said = f"{counted(missed, 'answer')} could not be noted{why}"
        yield Check("note", "signals", said, "Answers are right, but later rankings do not learn from them.")


def _dreams(memory: Engine, found: Settings) -> Check:
    last = last_dream(memory)
    said = "no dream yet" if last is None else f"the last one was {moment(last.at, memory.parts.zone)}"
    return Check("ok", "dreams", f"{said}; by itself: {schedule(found)}")


def _language(memory: Engine, name: str) -> Iterator[Check]:
    described = packaged_model(name.partition("@")[0])
    if described is None or described.languages != ("en",):
        return
    if mostly_other_than_english(_texts(memory)):
        said = f"most texts are not in English, which is all that {described.name} knows"
        yield Check("note", "language", said, _multilingual())


def _multilingual() -> str:
    command = f"recollect reindex --model {_MULTILINGUAL}"
    state = availability(_MULTILINGUAL)
    return command if state.ready else f"{state.command}, then {command}"


def _texts(memory: Engine) -> Iterator[str]:
    with memory.store.read() as view:
        for scope in view.scopes():
            for each in view.page(Filter(scope.owner, scope.agent), 0, _SAMPLE):
                yield each.text or " ".join(observation.content for observation in each.in_force)


def _vector(found: Settings, name: str) -> Vector | None:
    ready = embedder(name, found)
    return None if ready is None else ready.query("tea")
