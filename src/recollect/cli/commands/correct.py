"""Commands that correct notes and messages: update, supersede."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import command
from recollect.cli.input import read_text
from recollect.cli.memory_view import memory_fields
from recollect.cli.phrases import ellipsize
from recollect.cli.resolve import id_in, memory_id, memory_of
from recollect.cli.results import message_result
from recollect.cli.shapes import memory_data
from recollect.cli.times import start_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recollect.cli.call import Call
    from recollect.cli.results import Result
    from recollect.engine.results import SupersedeResult


@command(
    "update",
    "recollect update 12 --text 'Marisol prefers oolong, not sencha'",
    "recollect update 12 --importance 0.9 --tag kitchen --tag tea --pin",
    "recollect update '#12' --happened 2024-05-06 --category preferences",
    "recollect update 'Marisol Vega' --mark vital",
)
@click.argument("memory", metavar="ID|NAME")
@click.option("--text", metavar="TEXT", help="What it says from now on; the former text stays as history.")
@click.option("--importance", type=click.FloatRange(0, 1), metavar="0..1", help="How much it matters.")
@click.option("--category", metavar="NAME", help="What sort of thing it is.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="The tags it has from now on; repeatable.")
@click.option("--no-tags", is_flag=True, help="Remove all tags.")
@click.option(
    "--happened", metavar="WHEN", help="When it was so: an ISO date or time, or words such as 'last tuesday'."
)
@click.option("--status", metavar="STATUS", help="active, paused, completed or archived.")
@click.option("--pin/--no-pin", "pinned", default=None, help="Keep it from fading, or let it fade again.")
@click.option("--mark", metavar="WORD", help="Mark it as important, by a word of yours: it does not fade.")
@click.option("--no-mark", is_flag=True, help="Remove the mark.")
def update_command(
    call: Call,
    memory: str,
    tags: tuple[str, ...],
    no_tags: bool,
    happened: str | None,
    mark: str | None,
    no_mark: bool,
    **given: Any,
) -> Result:
    """Change what is given of a memory, and leave the rest.

    For a fact that is no longer true, use `recollect supersede`: changing the text is for one that was never
    said well.
    """
    if tags and no_tags:
        raise click.UsageError("Give either --tag or --no-tags.")
    if mark is not None and no_mark:
        raise click.UsageError("Give either --mark or --no-mark.")
    if mark is not None and not mark.strip():
        raise click.UsageError("A mark is a word, such as --mark vital.")
    changes = {name: value for name, value in given.items() if value is not None}
    if tags or no_tags:
        changes["tags"] = tags
    if mark is not None or no_mark:
        changes["importance_tag"] = mark or ""
    if happened is not None:
        changes["happened_at"] = start_of(happened, call.now(), "--happened")
    if not changes:
        raise click.UsageError("Say what to change, such as --text, --importance or --mark.")
    engine = call.memory()
    changed = engine.update(memory_of(engine, memory).id, **changes)
    details = [f"{name}: {value}" for name, value in memory_fields(changed, call.zone)]
    if changed.text:
        details.insert(0, ellipsize(changed.text, 200))
    name = f"{changed.name} (#{changed.id})" if changed.name else f"{changed.kind} #{changed.id}"
    return message_result(f"Updated {name}.", memory_data(changed), details)


@command(
    "supersede",
    "recollect supersede 12 'Tidebook ships in June'",
    "recollect supersede 12 31        # by a note that is there",
    "recollect supersede 12 31 --only",
)
@click.argument("old", metavar="OLD_ID", type=memory_id)
@click.argument("new", metavar="NEW_ID|TEXT...", nargs=-1, required=True)
@click.option("--only", is_flag=True, help="Leave its near-copies in force.")
def supersede_command(call: Call, old: int, new: tuple[str, ...], only: bool) -> Result:
    """Retire a note or message in favour of another.

    A number is the id of what is right; anything else is the text of a new note. Near-copies of the old one
    are retired with it, so that the error does not come back through them. What was retired stays: see it
    with `recollect recall --superseded`, or as of a day with `--as-of`; `recollect restore` takes it back.
    """
    id_ = id_in(new[0]) if len(new) == 1 else None
    by: int | str = read_text(new, "text that takes its place") if id_ is None else id_
    engine = call.memory()
    done = engine.supersede(old, by, copies=not only)
    names = {
        each.id: entity.name
        for each in done.retired
        if each.observation is not None and (entity := engine.get(each.id))
    }
    return message_result(
        f"#{done.by.id} supersedes #{old}.",
        {"by": memory_data(done.by), "retired": done.retired, "similar": done.similar},
        list(_details(done, names)),
        "note" if done.similar else "ok",
    )


def _details(done: SupersedeResult, names: Mapping[int, str]) -> Iterator[str]:
    yield f"In force, #{done.by.id}: {ellipsize(done.by.text or done.by.name)}"
    for place, each in enumerate(done.retired):
        what = "Retired with it, a near-copy" if place else "Retired"
        where = f"#{each.id}" if each.observation is None else f"observed of {names.get(each.id)}"
        yield f"{what}, {where}: {ellipsize(each.text)}"
    for alike in done.similar:
        yield f"Left in force, though alike ({alike.similarity:.2f}), #{alike.id}: {ellipsize(alike.text)}"
    if done.similar:
        yield f"Retire one of them too: recollect supersede ID {done.by.id}"
    ids = [str(each.id) for each in done.retired if each.observation is None]
    yield f"Take it back: recollect restore {' '.join(ids)}"
