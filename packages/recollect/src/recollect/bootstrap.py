"""Build an engine from settings: choose the adapters and the clock."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from recollect.domain.changes import Bounds
from recollect.domain.errors import InvalidInput, StoreUnavailable
from recollect.domain.records import Scope
from recollect.dreams.knobs import Phase
from recollect.engine import Engine
from recollect.models import embedders as choose
from recollect.ranking.profiles import PROFILES
from recollect.search.recording import SIMILARITY, TrialSettings, UsageRecorder
from recollect.services import LanguageModels, Services
from recollect.settings import AUTO, Settings, checked_token, load, program_folder
from recollect.stores.url import IN_MEMORY, SCHEMES
from recollect.write.repository import process_identity

if TYPE_CHECKING:
    from datetime import tzinfo

    from recollect.stores.port import Clock, Embedder, Extractor, Progress, Reranker, Store
    from recollect.stores.url import StoreUrl
    from recollect.transfer.copying import CopyReport


def now() -> datetime:
    return datetime.now(UTC)


def open(  # noqa: A001  # the library's own verb: recollect.open("memory.db")
    store: str | Path | None = None,
    *,
    owner: str | None = None,
    agent: str | None = None,
    model: str | None = None,
    session: str | None = None,
    clock: Clock = now,
) -> Engine:
    """Open a memory, or create it.

    Args:
        store: A file path, `postgresql://…` for a database, or `:memory:` for a store that ends with the
            process (default: the setting `store`, else a file in the user's data folder).
        owner: The owner of the memories that are read and written.
        agent: The agent whose memories are read and written (default: memories of all agents are read).
        model: An embedding model. `auto` chooses an installed model for the languages of the first texts;
            `none` searches by words only.
        session: The conversation that the calls belong to (default: a new one).
        clock: Returns the time, for tests.

    Raises:
        InvalidInput: A setting is wrong.
        NotAStore: The file is not a store, or a newer version wrote it.
        StoreUnavailable: The store cannot be reached, or another process locks it.

    Examples:
        >>> with recollect.open(":memory:", model="none") as memory:
        ...     memory.remember("Ana prefers tea").id
        1
    """
    given = {"store": store, "owner": owner, "agent": agent, "model": model}
    settings, _ = load(given)
    return engine(settings, clock, session, dreams=True)


def engine(
    settings: Settings,
    clock: Clock = now,
    session: str | None = None,
    *,
    dreams: bool = False,
    progress: Progress | None = None,
) -> Engine:
    """Return an engine on the store that the settings name.

    Set `dreams` in a long-running process: the engine may then dream in the background, if the settings
    allow it, and switch its model. `progress` reports while an older store is indexed again.
    """
    from recollect.write.repository import Repository  # noqa: PLC0415  # loads NumPy

    store = Repository(_store(settings, progress))
    services = Services(
        store=store,
        clock=clock,
        embedder_named=lru_cache(maxsize=8)(lambda name: embedder(name, settings)),
        preferred_model=model_name(settings),
        # Without an agent, all agents are read.
        scope=Scope(settings.owner, settings.agent or None),
        usage=UsageRecorder(store, session or secrets.token_hex(8)),
        profiles={profile.name: profile for profile in settings.profiles},
        session=session,
        zone=zone(settings),
        knobs=settings.dream_knobs,
        phases=tuple(phase for phase in Phase if phase not in settings.dream_without),
        dreams_every=(
            timedelta(minutes=settings.dream_every_minutes)
            if dreams and settings.dream and not store.read_only
            else None
        ),
        process_id=process_identity(),
        extractor=lru_cache(maxsize=1)(lambda: _extractor(settings)),
        trial=_trial(settings),
        reranker=lambda: reranker(settings),
        reranks=settings.rerank != "off",
        language_models=replace(language_models(settings), in_background=dreams),
    )
    if services.dreams_every is not None:
        _schedule(services, services.dreams_every, settings)
    return Engine(services)


def _store(settings: Settings, progress: Progress | None = None, *, copying: bool = False) -> Store:
    """Open the store. With `copying`, also open the target of an unfinished copy."""
    if not isinstance(settings.store, Path):
        opened: Store = server_store_class(settings.store)(
            settings.store,
            cache_folder=program_folder("cache") / "vectors",
            busy_seconds=settings.busy_seconds,
            copying=copying,
        )
        return opened
    from recollect.stores.sqlite.store import SqliteStore  # noqa: PLC0415  # loads SQLite and NumPy

    if is_file(settings):
        _make_folder(settings.store)
    busy_ms = int(settings.busy_seconds * 1000)
    return SqliteStore(settings.store, busy_ms=busy_ms, progress=progress, copying=copying)


def server_store_class(url: StoreUrl) -> Any:
    """Return the store class that a package registers for servers."""
    from recollect.domain.errors import MissingExtra, load_registered  # noqa: PLC0415  # most stores are files

    try:
        return load_registered("recollect.stores", SCHEMES[0], what=f"The store {url}", extra="postgres")
    except MissingExtra as error:
        raise StoreUnavailable(str(error)) from error


def is_file(settings: Settings) -> bool:
    """Return whether the store is a file on disk."""
    return isinstance(settings.store, Path) and settings.store.name != IN_MEMORY


def beside(settings: Settings, ending: str) -> Path:
    """Return a path for a companion file: next to the store's file, or in the user's data folder."""
    if isinstance(settings.store, Path):
        return settings.store.with_name(settings.store.name + ending)
    digest = hashlib.sha256(f"{settings.store} {settings.store.schema}".encode()).hexdigest()[:16]
    return program_folder("data") / f"server-{digest}{ending}"


def _trial(settings: Settings) -> TrialSettings:
    known = (SIMILARITY, *PROFILES, *(profile.name for profile in settings.profiles))
    if settings.ab_against not in known:
        raise InvalidInput(
            f"The setting ab_against names {settings.ab_against!r}; there are: {', '.join(known)}."
        )
    return TrialSettings(
        log=settings.shadow,
        bounds=Bounds(
            settings.shadow_events, int(settings.shadow_megabytes * 1_000_000), settings.shadow_days
        ),
        keeps_text=settings.log != "no-text",
        fits_store=True,
        design=settings.ab,
        share=settings.ab_share,
        against=settings.ab_against,
    )


def _schedule(services: Services, every: timedelta, settings: Settings) -> None:
    """After each recorded answer, start a dream if one is due."""
    from recollect.dreams.dreaming import DreamScheduler  # noqa: PLC0415  # few processes dream

    def back_up(at: datetime) -> None:
        """Back up the store before the first dream of a day."""
        from recollect.stores.sqlite.copying import keep_daily_backup  # noqa: PLC0415  # loads SQLite

        day = at.astimezone(services.zone).date()
        keep_daily_backup(services.store, backup_folder(settings), day, settings.dream_backups)

    # A database server has its own tools for backups.
    has_backups = settings.dream_backups and is_file(settings)
    dreams = DreamScheduler(services.for_writing, every, back_up if has_backups else None)
    services.usage.after_recording += [lambda _: dreams.run_if_due()]


def backup_folder(settings: Settings) -> Path:
    """Return the folder of the backups made before dreams."""
    return beside(settings, "-backups")


def zone(settings: Settings) -> tzinfo:
    """Return the user's time zone: from the setting, else from `TZ`, else from the machine."""
    rules = Path("/etc/localtime")
    named = settings.time_zone or os.environ.get("TZ")
    machine = str(rules.resolve()).rpartition("/zoneinfo/")[2]
    # Zones with a name and zone files have daylight saving rules; `astimezone` gives only a fixed offset.
    with suppress(OSError, ValueError, KeyError):
        return ZoneInfo((machine if named is None else named).removeprefix(":"))
    if named is None:
        with suppress(OSError, ValueError), rules.open("rb") as file:
            return ZoneInfo.from_file(file)
    return datetime.now().astimezone().tzinfo or UTC


def _extractor(settings: Settings) -> Extractor | None:
    from recollect.models.extractors import extractor_named  # noqa: PLC0415  # few calls extract notes

    options = choose.ModelOptions(
        base_url=settings.extractor_url,
        key=settings.extractor_key,
        timeout_seconds=settings.extractor_timeout_seconds,
    )
    return extractor_named(settings.extractor, options)


def reranker(settings: Settings) -> Reranker:
    """Return the re-ranker that the settings name, or the default one if they only say `on` or `off`."""
    from recollect.models.packaged import reranker_named  # noqa: PLC0415  # loads NumPy
    from recollect.models.registry import RERANKER  # noqa: PLC0415  # few calls re-rank

    name = RERANKER.ours[0] if settings.rerank in {"on", "off"} else settings.rerank
    return reranker_named(name, settings.model_threads)


def model_name(settings: Settings) -> str:
    """Return the model for a new store with English texts."""
    return choose.default_choice().name if settings.model == AUTO else settings.model


def language_models(settings: Settings) -> LanguageModels:
    """Return the models to choose from for languages other than English."""
    return LanguageModels(
        multilingual=choose.MULTILINGUAL,
        install=choose.multilingual_install_command(),
        reads_only_english=choose.reads_only_english,
        automatic=settings.model == AUTO,
        successor_of=choose.successor_of,
    )


def embedder(name: str, settings: Settings) -> Embedder | None:
    """Return the embedder of this name, with the options of the settings; None if the name is `none`."""
    options = choose.ModelOptions(
        threads=settings.model_threads,
        base_url=settings.model_url,
        key=settings.model_key,
        dims=settings.model_dims,
        timeout_seconds=settings.model_timeout_seconds,
    )
    return _embedder(name, options)


def restore_backup(backup: Path, settings: Settings, progress: Progress | None = None) -> None:
    """Replace the content of the store with a backup."""
    from recollect.stores.sqlite.copying import restore_copy  # noqa: PLC0415  # loads SQLite

    if not isinstance(settings.store, Path) or not is_file(settings):
        raise InvalidInput(
            "A backup can only replace a store that is a file. Name a file with --store, or copy the "
            "backup: recollect copy BACKUP STORE"
        )
    if not backup.is_file():
        raise StoreUnavailable(f"There is no file {backup}.")
    _make_folder(settings.store)
    restore_copy(backup, settings.store, int(settings.busy_seconds * 1000), progress)


def copy(
    source: str,
    destination: str,
    *,
    reading: Progress | None = None,
    copying: Progress | None = None,
    comparing: Progress | None = None,
) -> CopyReport:
    """Copy a whole store into an empty one of any kind, or finish an interrupted copy."""
    from recollect.transfer.copying import copy_store  # noqa: PLC0415  # few processes copy

    theirs, ours = (load({"store": each})[0] for each in (source, destination))
    for settings in (theirs, ours):
        if isinstance(settings.store, Path) and not is_file(settings):
            raise InvalidInput(f"{IN_MEMORY} ends with this command; name a file or postgresql://…")
    # A copy reads its own writes, so it must not use a replica.
    theirs, ours = (
        each if isinstance(each.store, Path) else replace(each, store=replace(each.store, replica=None))
        for each in (theirs, ours)
    )
    if not theirs.store.exists():
        raise StoreUnavailable(f"There is no memory at {theirs.store} to copy.")
    with closing(_store(theirs)) as from_, closing(_store(ours, copying=True)) as to:
        return copy_store(from_, to, reading=reading, copying=copying, comparing=comparing)


def kept_token(settings: Settings) -> str:
    """Return the token for HTTP clients if the settings have none. It is created once, next to the store."""
    if isinstance(settings.store, Path) and not is_file(settings):
        return secrets.token_urlsafe(32)
    path = beside(settings, "-token")
    try:
        if not os.path.lexists(path):
            _make_folder(path)
            _write_token(path, secrets.token_urlsafe(32))
        # Always read it back: two servers that start at once must show the same token.
        return checked_token(path.read_text(encoding="utf-8").strip())
    except (InvalidInput, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} has no valid token. Remove it, so that the next start creates one, or use --token."
        ) from error
    except OSError as error:
        raise StoreUnavailable(
            f"The token cannot be kept in {path}: {error.strerror}; set one with --token."
        ) from error


def _write_token(path: Path, token: str) -> None:
    """Create the file atomically, readable only by its owner. An existing file stays."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(token + "\n")
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass
        except OSError:
            # The disk has no hard links. On Windows, renaming does not overwrite; elsewhere it does.
            with suppress(FileExistsError):
                draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)


def _make_folder(store: Path) -> None:
    try:
        store.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"Cannot create the folder {store.parent}: {error.strerror}.") from error


@lru_cache(maxsize=8)
def _embedder(name: str, options: choose.ModelOptions) -> Embedder | None:
    """Return the process's embedder of this name and options, which all open stores share."""
    return choose.embedder_named(name, options)
