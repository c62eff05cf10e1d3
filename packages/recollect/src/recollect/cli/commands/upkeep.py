"""Commands that count, check and renew a store, and that show settings and models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.command import REFUSED, Call, command, option
from recollect.cli.options import iso_minute
from recollect.cli.rendering import (
    SIGNS,
    Column,
    Result,
    Styled,
    Table,
    Verbatim,
    fields_of,
    progress,
    stacked,
    titled,
)
from recollect.text.phrases import file_size, quantity

if TYPE_CHECKING:
    from recollect.domain.records import DreamRecord
    from recollect.engine import Engine
    from recollect.settings import Settings

SHELLS = ("bash", "zsh", "fish")
_DREAMS_READ = 1000


@command("stats", "recollect stats", "recollect stats --json | jq .entities")
def stats_command(call: Call) -> Result:
    """Count what the memory holds, in every scope."""
    from recollect.admin import Internals

    settings, _ = call.settings()
    memory = call.memory()
    counts, model = memory.counts(), memory.model
    sessions, last = Internals(memory).session_count(), last_dream(memory)
    data = {
        "store": str(settings.store),
        "model": None if model is None else model.name,
        **fields_of(counts),
        "sessions": sessions,
        "last_dream": None if last is None else last.at,
        "dream": settings.dream,
    }
    kinds = ("entities", "observations", "relations", "notes", "messages")
    rows = [
        *((name, getattr(counts, name)) for name in kinds),
        ("sessions", sessions),
        ("forgotten", counts.forgotten),
        ("scopes", counts.scopes),
        ("passages", counts.passages),
        ("with a vector", counts.vectors),
        ("waiting for one", counts.due),
        ("model", "none yet" if model is None else model.name),
        ("size", file_size(counts.bytes)),
        ("last dream", "never" if last is None else f"{iso_minute(last.at, call.zone)} (dream {last.id})"),
        ("dreams by itself", dream_schedule(settings)),
    ]
    return Result(data, [titled(str(settings.store)), Table(("", ""), rows)])


@command("doctor", "recollect doctor", "recollect doctor --full", "recollect doctor --repair")
@option("--full", "Check the store instead: its rows and every index.")
@option("--repair", "Rebuild what is derived from the rows: indexes, vectors, the cache.")
def doctor_command(call: Call, full: bool, repair: bool) -> Result:
    """Say what is installed, what is wrong and what to do.

    Each line is ok, a note or a problem. Nothing is changed: no store is created, and a file that is not ours
    is not touched. Exits with 1 where there is a problem: damage, a full disk, a store that other users can
    read.

    With --full, every text is compared with the checksum that was stored with it, and every index with the
    texts. With --repair, what is derived from the rows is rebuilt then. Of a file with damaged pages, all
    that can be read is carried over: within the store where only indexes are damaged, and where rows are
    lost into a new store beside it, with a list of what is missing. Exits with 1 while anything is wrong.
    """
    if full or repair:
        return _verify(call, repair=repair)
    from recollect.cli.health import health_checks  # loads the engine, SQLite and NumPy

    checks = list(health_checks(call))
    problems = sum(check.mark == "problem" for check in checks)
    rows = []
    for mark, what, said, remedy in checks:
        arrow = f"→ {remedy}" if remedy else ""
        shown = stacked(said, Styled(arrow, "changed"))
        rows.append((SIGNS[mark], Styled(what, "strong"), shown))
    columns = (Column(), Column(wrap="whole"), Column())
    ending = titled("\nAll is well.", "good")
    if problems:
        ending = titled(f"\n{quantity(problems, 'problem')} found.", "bad")
    data = {"problems": problems, "checks": [check._asdict() for check in checks]}
    code = REFUSED if problems else 0
    return Result(data, [Table(columns, rows, grid=True), ending], exit_code=code)


def _verify(call: Call, *, repair: bool) -> Result:
    settings, _ = call.settings()
    memory = call.memory()
    found = memory.upkeep.verify()
    left = memory.upkeep.repair() if repair and found else found
    data = {"ok": not left, "found": found, "left": left}
    if not found:
        whole = "file" if isinstance(settings.store, Path) else "store"
        return Result.message(f"The {whole} is whole, and every index agrees with it.", data)
    details = [f"{each.where}: {each.what}" for each in left or found]
    if not left:
        return Result.message(f"Repaired {quantity(len(found), 'problem')}; all is well now.", data, details)
    remedy = "Rebuild what can be: recollect doctor --repair"
    if not any(each.repairable for each in left):
        tool = "recollect restore" if isinstance(settings.store, Path) else "pg_restore"
        remedy = f"This cannot be rebuilt; put back a backup: {tool} BACKUP"
    text = f"Found {quantity(len(left), 'problem')}."
    return Result.message(text, data, [*details, remedy], "problem", exit_code=REFUSED)


@command("reindex", "recollect reindex", "recollect reindex --list", "recollect reindex --model e5-small")
@option("--list", "List embedding models, and what installs them.", to="list_")
def reindex_command(call: Call, list_: bool) -> Result:
    """Embed what waits for a vector, or all with another model.

    Passages from before token vectors were kept get those too.

    With --model NAME, all passages are embedded again and the memory switches to that model.

    If it is stopped, the next run continues. Until it is done, searches use the old model.
    """
    if list_:
        return _models(call)
    memory = call.memory()
    with progress("Embedding") as (embedding,):
        done = memory.reindex(call.model, embedding)
    switched = f"The memory now uses {done.model.name}. " if done.switched else ""
    text = f"{switched}Embedded {quantity(done.embedded, 'passage')} with {done.model.name}."
    return Result.message(text, {**fields_of(done), "model": done.model.name})


@command("settings", "recollect settings", "RECOLLECT_MODEL=none recollect settings --json")
def settings_command(call: Call) -> Result:
    """Show the settings, and where each came from.

    An option wins over the environment, and that over the settings file. In the environment a setting is
    written RECOLLECT_ and its name in capitals; in the file, as `name = value`.
    """
    from recollect.settings import config_path  # --help needs no settings

    rows, path = call.settings()[1], config_path()
    data = {
        "file": str(path),
        "file_exists": path.exists(),
        "settings": [
            {"name": row.name, "value": row.shown or None, "origin": row.origin, "meaning": row.meaning}
            for row in rows
        ],
    }
    return Result.table(
        data,
        ("Setting", "Value", "From", "Meaning"),
        [(row.name, row.shown, row.origin, row.meaning) for row in rows],
        f"Settings file: {path}{'' if path.exists() else ' (not there; everything has a default)'}",
    )


def _models(call: Call) -> Result:
    from recollect.bootstrap import language_models, model_name  # loads the engine
    from recollect.models.embedders import embedder_availabilities

    settings, _ = call.settings()
    preferred, found = model_name(settings), embedder_availabilities()
    models = language_models(settings)
    chooses = models.may_choose and models.reads_only_english(preferred)
    data = {
        "preferred": preferred,
        "for_other_languages": models.multilingual if chooses else None,
        "models": [
            {"name": each.name, "ready": each.ready, "what": each.reason, "command": each.command}
            for each in found
        ],
    }
    rows = []
    for each in found:
        install = f"; run: {each.command}" if each.command else ""
        rows.append((each.name, "ready" if each.ready else "missing", f"{each.reason}{install}"))
    other = f", or {models.multilingual} where its first texts are not in English" if chooses else ""
    kept = "An old one keeps its model until: recollect reindex --model NAME"
    return Result.table(data, ("Model", "", "What"), rows, f"A new memory gets {preferred}{other}. {kept}")


@command(
    "completion",
    "recollect completion bash >> ~/.bashrc",
    "recollect completion zsh >> ~/.zshrc",
    "recollect completion fish > ~/.config/fish/completions/recollect.fish",
    hidden=True,
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion_command(_: Call, shell: str) -> Result:
    """Print the script for completion with the tab key.

    Add it to what your shell reads at its start, as in the examples, and open a new shell.
    """
    from click.shell_completion import get_completion_class  # only this command needs it

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  # one of SHELLS
    root = click.get_current_context().find_root().command
    script = kind(root, {}, "recollect", "_RECOLLECT_COMPLETE").source()
    return Result({"shell": shell, "script": script}, [Verbatim(script)])


def last_dream(memory: Engine) -> DreamRecord | None:
    """Of this scope; those that were undone do not count."""
    return next((each for each in memory.dreams.history(_DREAMS_READ) if each.undone_at is None), None)


def dream_schedule(settings: Settings) -> str:
    """Whether and when `serve` and the library dream."""
    return f"every {settings.dream_every_minutes:g} minutes" if settings.dream else "off"
