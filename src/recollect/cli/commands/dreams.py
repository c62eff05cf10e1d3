"""`recollect dream` and `recollect forecast`: dream now, list, show and undo dreams, and look ahead."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from datetime import timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import REFUSED, Call, command, group
from recollect.cli.input import confirm
from recollect.cli.memory_view import label
from recollect.cli.options import DRY_RUN, YES, limit_option, memory_id
from recollect.cli.progress import steps
from recollect.cli.rendering import Block, Column, Paragraph, Result, Styled, Table, muted, picked, titled
from recollect.cli.times import iso_day, iso_minute
from recollect.errors import Conflict
from recollect.text.phrases import memories_text, quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from recollect.dreams.forecast import Forecast
    from recollect.engine.dreams.dreaming import DreamResult
    from recollect.engine.engine import Engine
    from recollect.records import DreamRecord, Memory

PHASES = (
    *("consolidate", "downscale", "merge", "correct", "prune"),
    *("place", "promote", "balance", "link", "report"),
)
# What is under way when so many stages are done.
_STAGES = (
    "Looking at the day",
    "Who else says what fades",
    "Copies of old errors",
    "Asking what people ask",
    "Summing up",
    "Writing",
)
_ID = click.argument("id_", metavar="ID", type=memory_id)


@command("history", "recollect dream history", "recollect dream history --json | jq '.dreams[0]'")
@limit_option(20, "Dreams at most.")
def dream_history_command(call: Call, limit: int) -> Result:
    """List the dreams, the newest first.

    In a pipe, the fields of a line are: id, when, what it did, when it was undone.
    """
    from recollect.cli.dream_report import brief_report  # only for those who dream

    found = call.memory().dreams.history(limit)
    zone = call.zone
    rows = [
        (
            *(str(each.id), iso_minute(each.at, zone), brief_report(each.report)),
            iso_minute(each.undone_at, zone) if each.undone_at else "",
        )
        for each in found
    ]
    next_ = "Look at one: recollect dream show ID" if found else "No dreams yet. To have one: recollect dream"
    data = {"dreams": [_record_data(each) for each in found]}
    return Result.table(data, ("Dream", "When", "What it did", "Undone"), rows, next_)


@command(
    "show", "recollect dream show 3", "recollect dream show 3 --changes", "recollect dream show 3 --json"
)
@_ID
@click.option("--changes", is_flag=True, help="Also the journal: every field, before and after.")
def dream_show_command(call: Call, id_: int, changes: bool) -> Result:
    """Show what a dream did, with the memories' texts.

    In a pipe, each line begins with what it is, as for `recollect dream`; with --changes the journal follows:
    `change`, what, id, before, after, text.
    """
    from recollect.cli.dream_report import ShownDream, dream_view, ids_in_journal, ids_in_report

    memory = call.memory()
    record, journal = memory.dreams.journal(id_)
    named = ids_in_report(record.report)
    memories = memory.get_many(sorted({*named, *(ids_in_journal(journal) if changes else ())}))
    dream = ShownDream(
        record.report,
        memories,
        record.at,
        record.id,
        undone_at=record.undone_at,
        journal=journal if changes else None,
        in_full=True,
    )
    data = {**_record_data(record), "memories": _texts(memories, named), "changes": journal}
    return Result(data, dream_view(dream, call.zone))


@command(
    "undo",
    "recollect dream undo 3",
    "recollect dream undo 3 --later --yes   # and every dream since",
)
@_ID
@click.option("--later", is_flag=True, help="Also the dreams that came after it.")
@YES
def dream_undo_command(call: Call, id_: int, later: bool, yes: bool) -> Result:
    """Put everything back as it was before a dream.

    What somebody changed since is left as it is, and named. A dream that others came after can only be
    undone with them.
    """
    memory = call.memory()
    record, _ = memory.dreams.journal(id_)
    since = [each for each in memory.dreams.undone_with(id_) if each != id_]
    if since and not later:
        raise Conflict(
            f"Dream {since[0]} came after dream {id_} and builds on it; undo that first, or all with: "
            f"recollect dream undo {id_} --later"
        )
    if record.undone_at is None:
        also = f" and the {quantity(len(since), 'dream')} since" if since else ""
        confirm(f"Put everything back as it was before dream {id_}{also}?", yes=yes)
    done = memory.dreams.undo(id_, later=later)
    memories = memory.get_many(done.left)
    left = [{"id": each, "text": label(memories.get(each))} for each in done.left]
    dreams = f"dream {done.ids[0]}" if len(done.ids) == 1 else f"dreams {', '.join(map(str, done.ids))}"
    but = f", but for {memories_text(len(left))}" if left else ""
    return Result.message(
        f"Undid {dreams}: {quantity(done.changes, 'change')} put back{but}.",
        {"undone": done.ids, "changes": done.changes, "left": left},
        [f"Changed since, and left as it is, #{each['id']}: {each['text']}" for each in left],
        "note" if left else "ok",
    )


@group(
    "dream",
    (dream_history_command, dream_show_command, dream_undo_command),
    "recollect dream --dry-run",
    "recollect dream",
    "recollect dream --without prune --without merge",
    "recollect dream --phase link --phase report",
    "recollect dream undo 3",
)
@DRY_RUN
@click.option(
    "--phase",
    "phases",
    type=click.Choice(PHASES),
    multiple=True,
    metavar="PHASE",
    help=f"Only this; repeatable. There are: {', '.join(PHASES)}.",
)
@click.option(
    "--without",
    type=click.Choice(PHASES),
    multiple=True,
    metavar="PHASE",
    help="All but this; repeatable.",
)
@click.option("--no-gate", is_flag=True, help="Write even if people would find less.")
def dream_command(
    call: Call, dry_run: bool, phases: tuple[str, ...], without: tuple[str, ...], no_gate: bool
) -> Result | None:
    """Sleep on it: strengthen, fade, tidy up, report.

    What was recalled since the last dream grows stronger, the rest fades a little, repeats are merged, and
    what comes up together is linked. Nothing is destroyed, and `recollect dream undo` takes all of it back.

    Before anything is written, the plan is tried on what people asked. Where they would find less, nothing is
    written, and the exit status is 1.

    In a pipe, each line begins with what it is: `dream`, id, time; `gate`, open or closed, questions, share
    found before, after; `lost`, phase, id, question, text; `count`, what, number; and for each memory what
    became of it (stronger, faded, pruned, merged, …), id, change, the other's id, text.
    """
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        if dry_run or phases or without or no_gate:
            raise click.UsageError("These options are for dreaming itself; leave them out here.", context)
        return None
    if not set(phases or PHASES) - set(without):
        raise click.UsageError("That leaves no phase to dream.", context)
    memory = call.memory()
    try:
        with steps(*_STAGES) as progress:
            done = memory.dream(
                phases=phases or None, without=without, dry_run=dry_run, gate=not no_gate, progress=progress
            )
    except Conflict as error:
        raise Conflict(
            "Another process is dreaming on this memory; try again when it is done. Nothing was changed."
        ) from error
    return dream_result(memory, done, call.zone, dry_run=dry_run)


def dream_result(memory: Engine, done: DreamResult, zone: tzinfo, *, dry_run: bool) -> Result:
    from recollect.cli.dream_report import ShownDream, dream_view, ids_in_report

    report = asdict(done.report)
    named = ids_in_report(report)
    memories = memory.get_many(sorted({*named, *done.left}))
    dream = ShownDream(report, memories, done.at, done.id, dry_run=dry_run, left=done.left)
    data = {
        "id": done.id,
        "at": done.at,
        "dry_run": dry_run,
        "written": done.id is not None,
        "gate_open": dream.blamed is None,
        "report": report,
        "left": done.left,
        "memories": _texts(memories, named),
    }
    return Result(data, list(dream_view(dream, zone)), exit_code=REFUSED if dream.blamed else 0)


def _record_data(record: DreamRecord) -> dict[str, Any]:
    return picked(record, "id", "at", "undone_at", "phases", "report")


def _texts(memories: Mapping[int, Memory], ids: Iterable[int]) -> dict[str, str]:
    return {str(id_): memories[id_].name or memories[id_].text for id_ in sorted(ids) if id_ in memories}


_MONTH = 30
# In the order of `recollect.records.Kind`.
_KINDS = ("entities", "notes", "messages")


@command(
    "forecast", "recollect forecast", "recollect forecast --days 30 --limit 50", "recollect forecast --json"
)
@click.option(
    "--days", type=click.IntRange(1, 3650), default=365, show_default=True, help="How far to look ahead."
)
@limit_option(10, "Memories to name, those that fade first.", least=0)
def forecast_command(call: Call, days: int, limit: int) -> Result:
    """Predict which memories fade if nobody uses them.

    Counts what nightly dreams would archive, and what would become weak and stale enough to be pruned, within
    a month and within a year; a dream prunes it only if another memory says the same. Nothing is written.

    In a pipe, each line begins with what it is: `within`, days, kind, how many there are, prunable, archived;
    `memory`, id, the day when it is prunable, the day when it is archived, text; `day`, date, mean strength,
    prunable, archived.
    """
    memory = call.memory()
    at = call.now()
    found = memory.dreams.forecast(days)
    reached = {
        row: [day for day in crossed if day >= 0]
        for row, crossed in enumerate(zip(found.fades_on.tolist(), found.archived_on.tolist(), strict=True))
    }
    # What falls below a threshold, the first ones first.
    rows = sorted(
        (row for row, crossed in reached.items() if crossed),
        key=lambda row: (min(reached[row]), float(found.strength[row]), row),
    )
    named = memory.get_many([int(found.ids[row]) for row in rows[:limit]])
    dates = [iso_day(at + timedelta(days=day), call.zone) for day in range(days + 1)]
    data = _forecast_data(found, rows, named, dates)
    return Result(data, _forecast_view(data))


def _forecast_data(
    found: Forecast, rows: Sequence[int], named: Mapping[int, Memory], dates: Sequence[str]
) -> dict[str, Any]:
    """`dates` are those of today and each day after it."""
    named_rows = [row for row in rows if int(found.ids[row]) in named]
    # How many by the end of each day, today first; -1 stands for never.
    prunable, archived = (
        list(accumulate(new[day] for day in range(found.days + 1)))
        for new in (Counter(found.fades_on.tolist()), Counter(found.archived_on.tolist()))
    )
    return {
        "days": found.days,
        "memories": len(found.ids),
        "kept": int(found.kept.sum()),
        "by_then": list(_counts(found, dates)),
        "soonest": [_fading(found, row, named[int(found.ids[row])], dates) for row in named_rows],
        "more": len(rows) - len(named_rows),
        "by_day": [
            {"date": date, "mean_strength": mean, "prunable": faded, "archived": gone}
            for date, mean, faded, gone in zip(dates, found.mean_strength, prunable, archived, strict=True)
        ],
    }


def _counts(found: Forecast, dates: Sequence[str]) -> Iterator[dict[str, Any]]:
    for days in [_MONTH, found.days] if found.days > _MONTH else [found.days]:
        prunable = (found.fades_on >= 0) & (found.fades_on <= days)
        archived = (found.archived_on >= 0) & (found.archived_on <= days)
        for place, kind in enumerate(_KINDS):
            of_kind = found.kind == place
            if of_kind.any():
                yield {
                    "days": days,
                    "date": dates[days],
                    "kind": kind,
                    "total": int(of_kind.sum()),
                    "prunable": int((prunable & of_kind).sum()),
                    "archived": int((archived & of_kind).sum()),
                }


def _fading(found: Forecast, row: int, memory: Memory, dates: Sequence[str]) -> dict[str, Any]:
    fades_on, archived_on = (
        day if day >= 0 else None for day in (int(found.fades_on[row]), int(found.archived_on[row]))
    )
    return {
        "id": memory.id,
        "kind": memory.kind,
        "text": label(memory),
        "prunable_on": None if fades_on is None else dates[fades_on],
        "prunable_in_days": fades_on,
        "archived_on": None if archived_on is None else dates[archived_on],
        "archived_in_days": archived_on,
        "strength_at_the_end": float(found.strength[row]),
        "retrievable_at_the_end": float(found.retrievable[row]),
    }


def _forecast_view(data: Mapping[str, Any]) -> Iterator[Block]:
    if not data["memories"]:
        yield titled("Nothing to predict: the memory is empty.", "changed")
    else:
        kept = f"; {data['kept']:,} pinned or marked, which do not fade" if data["kept"] else ""
        about = Styled(f"  {memories_text(data['memories'])}{kept}", "muted")
        yield Paragraph((Styled("If nobody uses them any more", "strong"), about))
    counts = [
        (str(each["days"]), each["kind"], *(str(each[name]) for name in ("total", "prunable", "archived")))
        for each in data["by_then"]
    ]
    if counts:
        yield Table(("In days", "Kind", "Today", "Prunable", "Archived"), counts, "within")
    if data["soonest"] or data["more"]:
        columns = (
            Column("id", "muted", "whole", right=True),
            Column("Prunable", wrap="whole"),
            Column("Archived", wrap="whole"),
            Column("First to go", wrap="cut", fill=True),
        )
        named = [
            (str(each["id"]), each["prunable_on"], each["archived_on"], each["text"])
            for each in data["soonest"]
        ]
        yield Table(columns, named, "memory", total=len(named) + data["more"])
        yield from muted("Pruned is only what another memory says, too. What is archived is still found.")
    elif data["memories"]:
        yield titled(f"Nothing falls below recall within {quantity(data['days'], 'day')}.", "good")
    by_day = [
        (each["date"], f"{each['mean_strength']:.6g}", str(each["prunable"]), str(each["archived"]))
        for each in data["by_day"]
    ]
    yield Table(("", "", "", ""), by_day, "day", only="pipe")
