"""Commands that count, check and repair a store, and that show settings and models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.command import REFUSED, Call, command, option
from recollect.cli.options import iso_minute
from recollect.cli.rendering import (
    SIGNS,
    Column,
    Paragraph,
    Result,
    Styled,
    Table,
    Verbatim,
    fields_of,
    muted,
    progress,
    titled,
)
from recollect.text.phrases import file_size, quantity

if TYPE_CHECKING:
    from recollect.cli.rendering import Block
    from recollect.domain.records import DreamRecord
    from recollect.engine import Engine
    from recollect.settings import Settings

SHELLS = ("bash", "zsh", "fish")
_MAX_DREAMS_READ = 1000


@command("stats", "recollect stats", "recollect stats --json | jq .entities")
def stats_command(call: Call) -> Result:
    """Count what the store holds.

    The counts include every owner and agent.
    """
    from recollect.admin import Internals

    settings, _ = call.settings()
    memory = call.memory()
    counts, model = memory.counts(), memory.model
    sessions, last = Internals(memory).count_sessions(), last_dream(memory)
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
        ("without a vector", counts.due),
        ("model", "none yet" if model is None else model.name),
        ("size", file_size(counts.bytes)),
        ("last dream", "never" if last is None else f"{iso_minute(last.at, call.zone)} (dream {last.id})"),
        ("automatic dreams", dream_schedule(settings)),
    ]
    return Result(data, [titled(str(settings.store)), Table(("", ""), rows)])


@command(
    "doctor",
    "recollect doctor",
    "recollect doctor --full",
    "recollect doctor --repair",
    if_stopped="A repair is made as a whole or not at all. Run the same command again.",
)
@option("--full", "Check every row and every index of the store instead.")
@option("--repair", "Check like --full, and rebuild indexes, vectors and the cache.")
def doctor_command(call: Call, full: bool, repair: bool) -> Result:
    """Check the installation and the store; say what to do.

    Each line is fine (✓), a note (●) or a problem (✗). The list at the end says what to do. Nothing is
    changed. The exit status is 1 if there is a problem: damage, a full disk, a store that others can read.

    --full compares every text with its checksum and every index with the texts. --repair then rebuilds what
    can be derived from the rows. If pages of the file are damaged, it saves all that can be read: in the
    store if only indexes are damaged, else in a new file beside it, with a list of what is missing.
    """
    if full or repair:
        return _verify(call, repair=repair)
    from recollect.cli.health import health_checks  # loads the engine, SQLite and NumPy

    checks = list(health_checks(call))
    problems = sum(check.mark == "problem" for check in checks)
    rows = [(SIGNS[mark], Styled(what, "strong"), said) for mark, what, said, _ in checks]
    columns = (Column(), Column(wrap="whole"), Column())
    # Problems come first; the rest keeps the order of the checks.
    advice = sorted((each for each in checks if each.remedy), key=lambda each: each.mark != "problem")
    view: list[Block] = [Table(columns, rows, grid=True)]
    if advice:
        title = "\nTo do" if problems else "\nNothing is wrong. You could:"
        numbered = [(f"{place}.", each.what, each.remedy) for place, each in enumerate(advice, 1)]
        view += [
            titled(title, "bad" if problems else "strong"),
            Table(("", "", Column()), numbered, grid=True),
        ]
    elif not problems:
        view.append(titled("\nNothing to do.", "good"))
    data = {"problems": problems, "checks": [check._asdict() for check in checks]}
    return Result(data, view, exit_code=REFUSED if problems else 0)


def _verify(call: Call, *, repair: bool) -> Result:
    settings, _ = call.settings()
    memory = call.memory()
    found = memory.upkeep.verify()
    left = memory.upkeep.repair() if repair and found else found
    data = {"ok": not left, "found": found, "left": left}
    if not found:
        whole = "file" if isinstance(settings.store, Path) else "store"
        return Result.message(f"The {whole} is intact, and every index agrees with it.", data)
    details = [f"{each.where}: {each.what}" for each in left or found]
    if not left:
        return Result.message(
            f"Repaired {quantity(len(found), 'problem')}; nothing is wrong now.", data, details
        )
    remedy = "To rebuild what can be rebuilt: recollect doctor --repair"
    if not any(each.repairable for each in left):
        tool = "recollect restore" if isinstance(settings.store, Path) else "pg_restore"
        remedy = f"This cannot be rebuilt. To restore a backup: {tool} BACKUP"
    text = f"Found {quantity(len(left), 'problem')}."
    return Result.message(text, data, [*details, remedy], "problem", exit_code=REFUSED)


@command(
    "reindex",
    "recollect reindex",
    "recollect reindex --list",
    "recollect reindex --model e5-memory",
    if_stopped="Run the same command again to continue.",
)
@option("--list", "List embedding models, and how to install them.", to="list_")
def reindex_command(call: Call, list_: bool) -> Result:
    """Embed texts without a vector, or all with another model.

    With --model NAME, it embeds all passages again, and then the memory uses that model. Until then, searches
    use the old one. If it is stopped, the next run continues.
    """
    if list_:
        return _models(call)
    memory = call.memory()
    with progress("Embedding") as (embedding,):
        done = memory.reindex(call.model, embedding)
    switched = f"The memory now uses {done.model.name}. " if done.switched else ""
    text = f"{switched}Embedded {quantity(done.embedded, 'passage')} with {done.model.name}."
    return Result.message(text, {**fields_of(done), "model": done.model.name})


@command(
    "settings",
    "recollect settings",
    "recollect settings store rerank",
    "RECOLLECT_MODEL=none recollect settings",
)
@click.argument("names", metavar="[NAME...]", nargs=-1)
def settings_command(call: Call, names: tuple[str, ...]) -> Result:
    """Show the settings, and where each value came from.

    With a NAME, it also shows what the setting means.

    An option wins over the environment, and the environment over the settings file. In the environment, a
    setting is RECOLLECT_ and its name in capitals; in the file, `name = value`.
    """
    from recollect.settings import config_path  # --help needs no settings

    rows, path = call.settings()[1], config_path()
    unknown = {*names}.difference(row.name for row in rows)
    if unknown:
        raise click.UsageError(f"There is no setting {min(unknown)!r}. To list them: recollect settings")
    rows = tuple(row for row in rows if not names or row.name in names)
    data = {
        "file": str(path),
        "file_exists": path.exists(),
        "settings": [
            {"name": row.name, "value": row.shown or None, "origin": row.origin, "meaning": row.meaning}
            for row in rows
        ],
    }
    columns = ("Setting", Column("Value", wrap="cut"), Column("From", wrap="cut"))
    shown: list[Block] = [Table(columns, [(row.name, row.shown, row.origin) for row in rows])]
    if names:
        shown += [Paragraph((Styled(row.name, "strong"), f": {row.meaning}")) for row in rows]
    shown += muted(
        f"Settings file: {path}{'' if path.exists() else ' (it does not exist)'}",
        "" if names else "To explain one: recollect settings NAME",
    )
    return Result(data, shown)


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
    other = f", or {models.multilingual} if its first texts are not in English" if chooses else ""
    kept = "To switch an existing one: recollect reindex --model NAME"
    return Result.table(data, ("Model", "", "What"), rows, f"A new memory uses {preferred}{other}. {kept}")


@command(
    "completion",
    "recollect completion bash >> ~/.bashrc",
    "recollect completion zsh >> ~/.zshrc",
    "recollect completion fish > ~/.config/fish/completions/recollect.fish",
    hidden=True,
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion_command(_: Call, shell: str) -> Result:
    """Print a script for completion with the tab key.

    Add it to your shell's start-up file, as in the examples, and open a new shell. It completes commands,
    options, profiles, sessions and the names of entities.
    """
    from click.shell_completion import get_completion_class  # only this command needs it

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  # one of SHELLS
    root = click.get_current_context().find_root().command
    script = kind(root, {}, "recollect", "_RECOLLECT_COMPLETE").source()
    return Result({"shell": shell, "script": script}, [Verbatim(script)])


def last_dream(memory: Engine) -> DreamRecord | None:
    """Return the last dream of this owner and agent that was not undone."""
    return next((each for each in memory.dreams.history(_MAX_DREAMS_READ) if each.undone_at is None), None)


def dream_schedule(settings: Settings) -> str:
    """Return how often `serve` and the library dream automatically."""
    return f"every {settings.dream_every_minutes:g} minutes" if settings.dream else "off"
