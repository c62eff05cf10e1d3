"""Dreams that were dreamt: a list, one in full, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.confirm import confirm
from recollect.cli.replies import Done, Rows
from recollect.cli.which import memory_id
from recollect.cli.wording import counted
from recollect.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.cli.call import Call
    from recollect.engine.dreaming import Undone


@command("history", "recollect dream history", "recollect dream history --json | jq '.dreams[0]'")
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Dreams at most."
)
def history(call: Call, limit: int) -> None:
    """List the dreams, the newest first.

    In a pipe, the fields of a line are: id, when, what it did, when it was undone.
    """
    from recollect.cli.dates import moment  # noqa: PLC0415  # --help needs none
    from recollect.cli.dream_reply import record_data  # noqa: PLC0415  # loads the engine's records
    from recollect.cli.dream_story import in_brief  # noqa: PLC0415

    with call.memory() as memory:
        found = memory.dreams.history(limit)
        zone = memory.parts.zone
    rows = [
        (
            str(each.id),
            moment(each.at, zone),
            in_brief(each.report),
            "" if each.undone_at is None else moment(each.undone_at, zone),
        )
        for each in found
    ]
    footer = (
        "Look at one: recollect dream show ID" if found else "No dreams yet. To have one: recollect dream"
    )
    data = {"dreams": [record_data(each) for each in found]}
    call.show(Rows(data, ("Dream", "When", "What it did", "Undone"), rows, footer=footer))


@command(
    "show", "recollect dream show 3", "recollect dream show 3 --changes", "recollect dream show 3 --json"
)
@click.argument("id_", metavar="ID", type=memory_id)
@click.option("--changes", is_flag=True, help="Also the journal: every field, before and after.")
def show(call: Call, id_: int, changes: bool) -> None:
    """Show what a dream did, with the memories' texts.

    In a pipe, each line begins with what it is, as for `recollect dream`; with --changes the journal follows:
    `change`, what, id, before, after, text.
    """
    from recollect.cli.dream_reply import of_record  # noqa: PLC0415  # loads the engine's records

    with call.memory() as memory:
        reply = of_record(memory, id_, changes=changes)
    call.show(reply)


@command(
    "undo",
    "recollect dream undo 3",
    "recollect dream undo 3 --later --yes   # and every dream since",
)
@click.argument("id_", metavar="ID", type=memory_id)
@click.option("--later", is_flag=True, help="Also the dreams that came after it.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def undo(call: Call, id_: int, later: bool, yes: bool) -> None:
    """Put everything back as it was before a dream.

    What somebody changed since is left as it is, and named. A dream that others came after can only be
    undone with them.
    """
    from recollect.cli.dream_reply import memories_of  # noqa: PLC0415  # loads the engine's records
    from recollect.cli.dream_story import label  # noqa: PLC0415

    with call.memory() as memory:
        record, _ = memory.dreams.journal(id_)
        since = [each for each in memory.dreams.history(1000) if each.id > id_ and each.undone_at is None]
        if since and not later:
            raise Conflict(
                f"Dream {since[0].id} came after dream {id_} and builds on it; undo that first, or all with: "
                f"recollect dream undo {id_} --later"
            )
        if record.undone_at is None:
            also = f" and the {counted(len(since), 'dream')} since" if later and since else ""
            confirm(f"Put everything back as it was before dream {id_}{also}?", yes=yes)
        done = memory.dreams.undo(id_, later=later)
        left = memories_of(memory, done.left)
    call.show(_undone(done, [(id_, label(left.get(id_))) for id_ in done.left]))


def _undone(done: Undone, left: Sequence[tuple[int, str]]) -> Done:
    """`left`: what was changed since, with its text."""
    named = f"dream {done.ids[0]}" if len(done.ids) == 1 else f"dreams {', '.join(map(str, done.ids))}"
    but = f", but for {counted(len(left), 'memory', 'memories')}" if left else ""
    said = f"Undid {named}: {counted(done.changes, 'change')} put back{but}."
    data = {
        "undone": list(done.ids),
        "changes": done.changes,
        "left": [{"id": id_, "text": text} for id_, text in left],
    }
    details = [f"Changed since, and left as it is, #{id_}: {text}" for id_, text in left]
    return Done(said, data, details, "note" if left else "ok")
