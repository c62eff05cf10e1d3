"""Arguments and options that several commands share, and how to read their values."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections import Counter
from datetime import UTC, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.cli.command import Call, option
from recollect.domain.errors import InvalidInput, NotFound, RecollectError
from recollect.domain.limits import DEFAULT_PROFILE
from recollect.domain.records import NOTE_FIELDS
from recollect.text.phrases import memories_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from click.shell_completion import CompletionItem

    from recollect.domain.records import Memory
    from recollect.engine import Engine
    from recollect.language.time_phrases import TimePhrase
    from recollect.ranking.candidates import Profile

    Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

# Times in arguments

_AGE = re.compile(r"(\d{1,6})d")
_INSTANT = timedelta(microseconds=1)


def parse_time(text: str) -> datetime:
    """Parse an ISO date or time; without a zone, in the local one."""
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is not a date or time; write it like 2026-03-01 or 2026-03-01T14:30."
        ) from None


def parse_time_or_age(text: str) -> datetime | timedelta:
    """Parse an ISO date or time, or a number of days before now, as in `30d`."""
    days = _AGE.fullmatch(text.strip())
    return timedelta(days=int(days[1])) if days else parse_time(text)


def when(*words: str, end: bool = False) -> Callable[[str], datetime | str]:
    """Return the type of an option: an ISO date or time, or words such as `last tuesday`.

    The value is the start of that time in the user's zone, or with `end` its last moment. A span without an
    end lasts until now. The texts in `words` are returned unchanged.
    """

    def read(text: str) -> datetime | str:
        text = text.strip()
        return (
            text if text in words else _moment(text, click.get_current_context().find_object(Call), end=end)
        )

    return read


def _moment(text: str, call: Call | None, *, end: bool) -> datetime:
    from recollect.language.time_phrases import time_of
    from recollect.text.tokens import content_words  # --help needs no grammar of times
    from recollect.write.inputs import as_of_time

    now = (call or Call()).now()
    try:
        if end and (moment := as_of_time(text, now.tzinfo or UTC)):
            return moment.astimezone(now.tzinfo)
        exact = datetime.fromisoformat(text)
        return exact.replace(tzinfo=now.tzinfo) if exact.tzinfo is None else exact.astimezone(now.tzinfo)
    except (ValueError, OverflowError, InvalidInput):
        phrase = time_of(text, now)
        if phrase is None and text.lower() in {"now", "ahora"}:
            return now
        # Words outside the time phrase would be ignored, so refuse them.
        start, stop = (0, 0) if phrase is None else phrase.place
        if phrase is None or content_words(f"{text[:start]} {text[stop:]}"):
            raise click.BadParameter(
                f"{text!r} is not a date or time; write it like 2026-03-01, 2026-03-01T14:30, "
                "'last tuesday' or '3 weeks ago'."
            ) from None
        if end:
            return now if phrase.stop is None else phrase.stop - _INSTANT
        if phrase.start is None:
            raise click.BadParameter(f"{text!r} has no start; name a day or a time.") from None
        return phrase.start


# Times in output; without a zone, in this machine's


def iso_day(when: datetime, zone: tzinfo | None = None) -> str:
    """Return `2024-05-06`."""
    return when.astimezone(zone).date().isoformat()


def iso_minute(when: datetime, zone: tzinfo | None = None) -> str:
    """Return `2024-05-06 10:32`."""
    return f"{when.astimezone(zone):%Y-%m-%d %H:%M}"


def iso_day_or_minute(when: datetime, zone: tzinfo | None = None) -> str:
    """Return the day, and the time unless it is midnight: a stored day has midnight as its time."""
    is_day = when.astimezone(zone).time() == time.min
    return iso_day(when, zone) if is_day else iso_minute(when, zone)


def long_day(when: datetime) -> str:
    """Return `6 May 2024`."""
    return f"{when.day} {when:%B %Y}"


def span_text(phrase: TimePhrase) -> str:
    """Return `6 May – 12 May 2024`: the span that a phrase names, including its last day."""
    first, last = phrase.start, None if phrase.stop is None else phrase.stop - _INSTANT
    if first is None or last is None:
        return f"until {long_day(last)}" if last else f"from {long_day(first)}" if first else ""
    if first.date() == last.date():
        whole = phrase.stop is not None and phrase.stop - first >= timedelta(hours=23)
        hours = "" if whole else f", {first:%H:%M} – {phrase.stop:%H:%M}"
        return f"{long_day(first)}{hours}"
    begins = f"{first.day} {first:%B}" if first.year == last.year else long_day(first)
    return f"{begins} – {long_day(last)}"


# Memories by name or id

_ID = re.compile(r"#?([0-9]{1,18})")
_MAX_OWNERS = 3
_MAX_COMPLETED = 50
_ENVIRON: Mapping[str, str] = os.environ  # noqa: TID251  # the shell's own variables for completion


def id_in(text: str) -> int | None:
    """Return the number of `12` or `#12`."""
    number = _ID.fullmatch(text.strip())
    return None if number is None else int(number[1])


def memory_id(text: str) -> int:
    """Parse an id; a type for options and arguments."""
    number = id_in(text)
    if number is None:
        raise click.BadParameter(f"{text!r} is not an id; ids are numbers, such as 12 or #12.")
    return number


def memory_of(memory: Engine, text: str) -> Memory:
    """Find a memory by an entity's name or an id; `#12` is always an id, since an entity may be named 12."""
    found = memory_if_any(memory, text)
    if found is None:
        raise NotFound(not_found(memory, text))
    return found


def memory_if_any(memory: Engine, text: str) -> Memory | None:
    if not text.startswith("#"):
        entities = memory.graph.open_nodes([text], record=False).entities
        if entities:
            return entities[0]
    number = id_in(text)
    return None if number is None else memory.get(number)


def not_found(memory: Engine, *asked: str) -> str:
    """Return the message for missing memories, with the names that contain the given text."""
    ids = [each for each in asked if _ID.fullmatch(each)]
    names = [each for each in asked if each not in ids]
    missing = [f"no memory {' or '.join(each.lstrip('#') for each in ids)}"] if ids else []
    remedy = ""
    if names:
        missing.append(f"no entity named {' or '.join(map(repr, names))}")
        near = [name for each in names for name in names_containing(memory, each)]
        remedy = (
            f" Similar names: {', '.join(map(repr, near))}." if near else " To list names: recollect graph"
        )
    return f"There is {' and '.join(missing)}.{remedy}"


def names_containing(memory: Engine, text: str, limit: int = 5) -> list[str]:
    """Return names of entities that contain this text; names that begin with it come first."""
    from recollect.admin import Internals  # few commands need it

    return Internals(memory).complete_name(text, limit)[0]


def other_owners(memory: Engine) -> str:
    """Return a hint about other owners' memories, or an empty text if this owner and agent have some."""
    from recollect.admin import Internals  # only for an empty answer
    from recollect.settings import load

    found, asked = Internals(memory).memories_by_scope(), memory.scope
    call = click.get_current_context().ensure_object(Call)
    usual = load({"store": call.store})[0]
    if any(each.owner == asked.owner and (not asked.agent or asked.agent == each.agent) for each in found):
        return ""
    counts = Counter[str]()
    for scope, count in found.items():
        wanted = {"owner": scope.owner} | ({"agent": scope.agent or ""} if asked.agent else {})
        drop = [name for name in wanted if getattr(call, name) and getattr(usual, name) == wanted[name]]
        changed = [name for name in wanted if name not in drop and (wanted[name] or getattr(asked, name))]
        leave = " and ".join(f"--{name}" for name in drop)
        add = " ".join(f"--{name} {shlex.quote(wanted[name])}" for name in changed)
        advice = ", ".join(filter(None, (leave and f"leave out {leave}", add and f"add {add}")))
        counts[f"{f'owner {scope.owner}' if scope.owner else 'no owner'}: {advice}"] += count
    most = counts.most_common(_MAX_OWNERS)
    said = [f"{memories_text(n)} {'belongs' if n == 1 else 'belong'} to {owner}" for owner, n in most]
    return f"{'; '.join(said)}." if said else ""


def no_session(name: str) -> NotFound:
    return NotFound(f"There is no session named {name!r}. To list sessions: recollect session show")


def all_profiles(call: Call) -> Mapping[str, Profile]:
    """Return the built-in profiles and the user's own, which may replace built-in ones."""
    from recollect.ranking.profiles import PROFILES  # loads NumPy

    return {**PROFILES, **{each.name: each for each in call.settings()[0].profiles}}


def _completer(find: Callable[[Call, str], Iterable[tuple[str, str | None]]]) -> Completer:
    """Return a completion function for the tab key. `find` returns names and descriptions."""

    def complete(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        try:
            names = list(find(ctx.ensure_object(Call), begun))
        except (RecollectError, OSError):  # the command itself will report it
            return []
        return [
            CompletionItem(_shell_word(name), help=about)
            for name, about in names
            if name.casefold().startswith(begun.casefold())
        ]

    return complete


def _shell_word(name: str) -> str:
    """Escape a name twice for bash, since click's script unescapes it once. Other shells escape names."""
    last = _ENVIRON.get("COMP_WORDS", "").rsplit("\n", 1)[-1]
    if not _ENVIRON.get("_RECOLLECT_COMPLETE", "").startswith("bash") or last.startswith(("'", '"')):
        return name
    return re.sub(r"([^\w@%+=:,./-])", r"\\\\\1", name)


def _profiles(call: Call, _: str) -> Iterable[tuple[str, str]]:
    return [(each.name, each.about) for each in all_profiles(call).values()]


def _sessions(call: Call, _: str) -> Iterable[tuple[str, None]]:
    with call.open_memory() as memory:
        return [(each.name, None) for each in memory.sessions.list()]


def _entities(call: Call, begun: str) -> Iterable[tuple[str, None]]:
    with call.open_memory() as memory:
        return [(name, None) for name in names_containing(memory, begun, _MAX_COMPLETED)]


complete_profile: Completer = _completer(_profiles)
complete_session: Completer = _completer(_sessions)
complete_entity: Completer = _completer(_entities)


# Options

_Function = TypeVar("_Function", bound="Callable[..., Any]")


def combined(*options: Callable[[_Function], _Function]) -> Callable[[_Function], _Function]:
    """Combine several options and arguments into one decorator."""

    def decorate(function: _Function) -> _Function:
        for each in reversed(options):
            function = each(function)
        return function

    return decorate


KINDS = ("entity", "note", "message")
PROFILE = option(
    "-p --profile NAME", "Ranking profile; see `recollect profile`.", shell_complete=complete_profile
)
AS_OF = option(
    "--as-of WHEN", "Answer as of WHEN: ISO date or time, or words; for a day, its end.", type=when(end=True)
)
HIDDEN_DRY_RUN = option("--dry-run")
DRY_RUN = option("--dry-run", "Show what it would do; change nothing.")
YES = option("-y --yes", "Do not ask for confirmation.")
KEEP_GOING = option(
    "--keep-going/--stop-at-bad-line",
    "List and skip lines that cannot be stored, or store nothing at all.",
    default=True,
    hidden=True,
)
AFTER = option("--after", "Continue after this id.", type=click.IntRange(0), default=0)
NOTE_OPTIONS = combined(
    option("--importance 0..1", "How much it matters (default: 0.5).", type=click.FloatRange(0, 1)),
    option("--category NAME", "Category: preferences, plans_goals, …"),
    option(
        "--happened --at WHEN",
        "When it happened: ISO date or time, or 'last tuesday'.",
        to="happened_at",
        type=when(),
    ),
    option(
        "--expires WHEN",
        "When searches stop finding it: date, time, words, or never.",
        to="expires_at",
        type=when("never"),
    ),
    *(option(f"--{name.replace('_', '-')} TEXT", f"{about}.") for name, about in NOTE_FIELDS.items()),
)
"""Options of a note, whether it is new or changed."""


def session_option(help_: str, **rest: Any) -> Callable[[_Function], _Function]:
    return option("--session NAME", help_, shell_complete=complete_session, **rest)


def limit_option(default: int | None, help_: str) -> Callable[[_Function], _Function]:
    return option("-n --limit", help_, type=click.IntRange(1, 1000), default=default)


def filter_options(
    *hidden: str,
    kinds: str = "Only this kind; repeatable.",
    session: str = "Search only the messages of this session.",
) -> Callable[[_Function], _Function]:
    """Options that filter a list or a search; the help leaves out the `hidden` ones."""
    choice = {"type": click.Choice(KINDS), "multiple": True}
    superseded = "Include replaced memories."
    return combined(
        option("-k --kind", kinds, to="kinds", hidden="--kind" in hidden, **choice),
        session_option(session, hidden="--session" in hidden),
        option("--tag TAG...", "Only with this tag; repeatable.", to="tags", hidden="--tag" in hidden),
        option("--superseded", superseded, to="include_superseded", hidden="--superseded" in hidden),
    )


def search_options(*hidden: str) -> Callable[[_Function], _Function]:
    return combined(
        limit_option(None, "Number of hits (default: the relevant ones, at most 10)."),
        PROFILE,
        AS_OF,
        filter_options(*hidden),
        option(
            "--rerank/--no-rerank",
            "Re-rank the first hits with a model (default: the setting `rerank`).",
            default=None,
            hidden=True,
        ),
        option("--untuned", "Rank with the profile's published numbers.", hidden=True),
    )


def search_arguments(
    *, profile: str | None, kinds: tuple[str, ...], untuned: bool, **rest: Any
) -> dict[str, Any]:
    """Return the engine's arguments for the options of a search."""
    from recollect.domain.records import recall_arguments  # few commands search

    named = {"profile": profile or DEFAULT_PROFILE, "kinds": kinds or KINDS, "tuned": not untuned}
    return recall_arguments({**rest, **named})


# Input of a command: arguments, standard input, files of turns, a confirmation

STDIN = "-"
_LONGEST_INPUT = 64 * 1024 * 1024


def read_text(words: tuple[str, ...], what: str) -> str:
    """Join the words. For `-`, or if there are no words and input is piped, read standard input."""
    if words and words != (STDIN,):
        return " ".join(words)
    if not words and sys.stdin.isatty():
        raise click.UsageError(f"There is no {what}: give it as an argument, or pipe it to standard input.")
    text = read_bytes(STDIN).decode("utf-8", "surrogateescape").strip()
    if not text:
        raise click.UsageError(f"There is no {what}: standard input is empty.")
    return text


def read_bytes(file: str) -> bytes:
    """Read a file, or standard input for `-`, without its byte-order mark."""
    if file != STDIN:
        return existing_file(file).read_bytes().removeprefix(b"\xef\xbb\xbf")
    raw = sys.stdin.buffer.read(_LONGEST_INPUT + 1)
    if len(raw) > _LONGEST_INPUT:
        raise click.ClickException(
            f"Standard input has more than {_LONGEST_INPUT // 1024**2} MiB; split it, or import a file."
        )
    return raw.removeprefix(b"\xef\xbb\xbf")


def existing_file(file: str, otherwise: str = "") -> Path:
    """Return the path, or raise an error if there is no such file."""
    path = Path(file)
    if not path.is_file():
        raise click.ClickException(f"There is no file {file}.{otherwise}")
    return path


def confirm(question: str, *, yes: bool) -> None:
    """Ask the user, unless --yes was given; raise if the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.ClickException(f"{question} Standard input is not a terminal; add --yes to confirm.")
    if not click.confirm(question, err=True):
        raise click.ClickException("Nothing was changed.")
