"""The checks of `recollect doctor`."""

from __future__ import annotations

import os
import platform
import shutil
import stat
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import apsw

from recollect.bootstrap import embedder, engine, is_file, model_name, reranker, server_store_class, zone
from recollect.cli.command import Call, program_version
from recollect.cli.commands.upkeep import dream_schedule, last_dream
from recollect.cli.options import iso_minute
from recollect.cli.rendering import Check
from recollect.domain.errors import ModelUnavailable, NotAStore, RecollectError, StoreDamaged
from recollect.models.embedders import WORDS_ONLY, default_choice, embedder_availabilities
from recollect.models.extractors import extractor_named
from recollect.models.registry import RERANKER, availability
from recollect.operations.store import store_checks
from recollect.settings import AUTO, config_path
from recollect.stores.sqlite.access import why_unreadable, why_unwritable
from recollect.stores.sqlite.connection import migrations, refuse_strangers
from recollect.text.phrases import file_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.engine import Engine
    from recollect.settings import Settings
    from recollect.stores.url import StoreUrl


# Models for tests, which compare words, not meaning.
_TEST_MODELS = frozenset({"hashing"})
# A note with its words and vectors needs a few pages in the store and in its log.
_MIN_FREE_BYTES = 1 << 20
_READ_REMEDY = "Let that user read it, or name another file with --store."


def health_checks(call: Call) -> Iterator[Check]:
    yield Check("ok", "Recollect", program_version())
    yield Check("ok", "Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield Check("ok", "SQLite", f"{apsw.sqlite_lib_version()}, from apsw {apsw.apsw_version()}")
    try:
        settings, _ = call.settings()
    except RecollectError as error:
        yield Check(
            "problem",
            "settings",
            str(error),
            "Correct that setting in the file, the environment or the option.",
        )
        return
    path = config_path()
    said = str(path) if path.exists() else f"defaults and environment; there is no {path}"
    yield Check("ok", "settings", said)
    if settings.owner or settings.agent:
        yield Check("ok", "scope", f"owner {settings.owner!r}, agent {settings.agent!r}")
    yield _extractor(settings)
    checks, can_be_opened = _check_before_opening(settings.store)
    yield from checks
    if can_be_opened:
        try:
            with engine(settings) as memory:
                yield from _check_opened(memory, settings, checks)
        except RecollectError as error:
            said, _, remedy = str(error).partition(". ")
            if is_file(settings) and isinstance(error, NotAStore | StoreDamaged):
                said, remedy = str(error), "If you have a backup: recollect restore BACKUP"
            yield Check("problem", "store", said, remedy)
    else:
        yield _model(settings, model_name(settings))
    ready = [each.name for each in embedder_availabilities() if each.ready and each.name not in _TEST_MODELS]
    local = ", ".join(name for name in ready if ":" not in name) or "none"
    yield Check("ok", "models", f"installed: {local}; `recollect reindex --list` lists all")
    yield _reranking(settings)


def _extractor(found: Settings) -> Check:
    """Check that the extractor exists, without a call to its server."""
    try:
        extractor = extractor_named(found.extractor)
    except RecollectError as error:
        return Check("problem", "extractor", str(error), "Correct the setting `extractor`.")
    if extractor is None:
        return Check("note", "extractor", "none: no notes are made from messages")
    if found.extractor.startswith("openai:") and not (found.extractor_key or found.extractor_url):
        said = f"{extractor.name} needs a key, or a server that needs none"
        return Check(
            "problem", "extractor", said, "Set `extractor_key` or `extractor_url` in the settings file."
        )
    return Check("ok", "extractor", f"{extractor.name}: makes notes from messages")


def _check_before_opening(store: Path | StoreUrl) -> tuple[list[Check], bool]:
    """Return the checks before the store is opened, and whether it can be opened."""
    if isinstance(store, Path):
        if why := why_unreadable(store):
            return [Check("problem", "store", f"{store} cannot be read: {why}", _READ_REMEDY)], False
        read_only = store.exists() and bool(why_unwritable(store))
        check = _file_check(store, read_only=read_only)
        around = [] if read_only or not store.exists() else _surroundings(store)
        return [check, *around], check.mark == "ok" or (check.mark == "note" and read_only)
    try:
        checks: tuple[list[Check], bool] = server_store_class(store).server_checks(store)
    except RecollectError as error:
        return [Check("problem", "store", str(error))], False
    return checks


def _file_check(path: Path, *, read_only: bool) -> Check:
    """Check the store's file without opening the store."""
    try:
        size = path.stat().st_size if path.exists() else 0
        if not size:
            # Missing folders are created, so check the nearest existing one.
            nearest = next(folder for folder in path.absolute().parents if folder.exists())
            command_ = "recollect remember 'My first note'"
            remedy = f'Name another file with --store, or: sudo chown "$USER" {quote(str(nearest))}'
            can_be_made = nearest.is_dir() and os.access(nearest, os.W_OK)
            return (
                Check("note", "store", f"{path} does not exist yet", command_)
                if can_be_made
                else Check(
                    "problem",
                    "store",
                    f"{path} does not exist and cannot be created: {why_unwritable(nearest)}",
                    remedy,
                )
            )
        refuse_strangers(path, len(migrations()))
        with path.open("rb") as file:
            schema = int.from_bytes(file.read(64)[60:], "big")
    except RecollectError as error:
        remedy = "Name another file with --store, or restore a backup: recollect restore BACKUP"
        return Check("problem", "store", str(error), remedy)
    except OSError as error:
        return Check("problem", "store", f"{path} cannot be read: {error.strerror}", _READ_REMEDY)
    whole = f"{path}, {file_size(size)}, schema {schema}"
    if read_only:
        check = Check("note", "store", f"{whole}; it can be read, but not written: {why_unwritable(path)}")
    elif schema < len(migrations()):
        said = f"{path} has the older schema {schema}; the next command upgrades it, and keeps a copy"
        check = Check("note", "store", said)
    else:
        check = Check("ok", "store", whole)
    return check


def _surroundings(path: Path) -> Iterator[Check]:
    """Check that the disk has free space, and that other users cannot read the file."""
    free = shutil.disk_usage(path.parent).free
    if free < _MIN_FREE_BYTES:
        said = f"{file_size(free)} are free on the disk of {path}; a write needs more"
        yield Check(
            "problem", "disk", said, f"Free some space on the disk of {path.parent}, or move the store."
        )
    if os.name == "posix":  # Windows has other permissions
        mode, folders = path.stat().st_mode, [folder.stat().st_mode for folder in path.absolute().parents]
        anyone = mode & stat.S_IROTH and all(folder & stat.S_IXOTH for folder in folders)
        group = mode & stat.S_IRGRP and all(folder & (stat.S_IXGRP | stat.S_IXOTH) for folder in folders)
        if anyone or group:
            said = f"{path} can be read by other users of this machine (mode {stat.S_IMODE(mode):o})"
            yield Check("problem", "privacy", said, f"chmod 600 {quote(str(path))}*")


def _model(found: Settings, name: str) -> Check:
    """Check that the model can embed a word."""
    if name == WORDS_ONLY:
        none = f"no model: {default_choice().reason}"
        chosen = "none, by the settings: searches use words only"
        return Check("note", "model", none if found.model == AUTO else chosen)
    try:
        ready = embedder(name, found)
        if ready is not None:
            ready.query("tea")
    except ModelUnavailable as error:
        return Check("problem", "model", str(error), "recollect reindex --list")
    return Check("ok", "model", f"{name} is ready")


def _reranking(found: Settings) -> Check:
    """Check that the re-ranking model works, if there is one."""
    if found.rerank == "off":
        state = availability(RERANKER.ours[0], RERANKER)
        said = f"{state.name} is installed for --rerank" if state.ready else state.reason
        return Check("ok", "re-ranking", f"off; {said}")
    try:
        model = reranker(found)
        model.scores("tea", ["a cup of tea"])
    except ModelUnavailable as error:
        return Check("note", "re-ranking", f"hits keep the order of their profile: {error}")
    return Check("ok", "re-ranking", f"{model.name} re-ranks the first hits")


def _check_opened(memory: Engine, found: Settings, outside: list[Check]) -> Iterator[Check]:
    """Return the store's own checks, and the checks that need the settings or this machine."""
    checks = {
        each.check: Check(each.state, each.check, each.said, each.advice) for each in store_checks(memory)
    }
    # These were reported before the store was opened.
    checks.pop("disk", None)
    if not any(each.what == "reads" and each.said.startswith("replica") for each in outside):
        checks.pop("replica", None)
    used, wanted, dreams = memory.model, model_name(found), checks.pop("dreams")
    name = wanted if used is None else used.name
    checks["model"] = ready = _model(found, name)
    yield from checks.values()
    # A changed setting does not change a store's model.
    if found.model != AUTO and wanted != WORDS_ONLY and wanted.partition("@")[0] != name.partition("@")[0]:
        said = f"the settings name {wanted}, but this store uses {name}"
        remedy = "" if memory.upkeep.store_state().read_only else f"recollect reindex --model {wanted}"
        yield Check("note", "model", said, remedy)
    if getattr(found.store, "vectors", "cache") == "server":
        yield Check("ok", "vector search", "by pgvector on the server")
    elif ready.mark == "ok" and used is not None:
        memory.search("tea", limit=1)  # opens the cache
        problem = memory.upkeep.store_state().cache_problem
        said = "in order"
        if problem is not None:
            said = f"not shared, so each program loads its own copy: {problem}"
        yield Check("note" if problem else "ok", "vector cache", said)
    last = last_dream(memory)
    said = dreams.said if last is None else f"the last one was {iso_minute(last.at, zone(found))}"
    yield Check("ok", "dreams", f"{said}; automatic: {dream_schedule(found)}")
