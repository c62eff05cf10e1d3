"""Sleep, and taking it back, as tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.errors import NotFound
from recollect.serve.memory_tools import LARGEST_ID
from recollect.serve.shapes import flag, listed, maybe, number, table, text, whole
from recollect.serve.tool import Reply, Tool

if TYPE_CHECKING:
    from recollect.engine.dreams.dreaming import DreamResult
    from recollect.serve.tool import Call

_COUNTS = (
    "memories",
    "answers",
    "stronger",
    "faded",
    "stabler",
    "consolidated",
    "archived",
    "pruned",
    "merged",
    "corrected",
    "linked",
)
_MOST_LEFT = 50


def _dream(call: Call) -> Reply:
    done = call.engine.dream(
        dry_run=call.get("dry_run", False), without=call.get("without", ()), progress=call.progress
    )
    data = {"id": done.id, **_counted(done), "gate": _gate(done)}
    return Reply(data, _told(done, data, dry=call.get("dry_run", False)))


def _counted(done: DreamResult) -> dict[str, int]:
    report = done.report
    return {
        "memories": report.memories,
        "answers": report.answers,
        "stronger": report.stronger,
        "faded": report.faded,
        "stabler": report.stabler,
        "consolidated": report.consolidated,
        "archived": report.archived,
        "pruned": len(report.pruned),
        "merged": len(report.merged) + len(report.merged_observations),
        "corrected": len(report.corrected),
        "linked": report.links,
    }


def _gate(done: DreamResult) -> dict[str, Any] | None:
    gate = done.report.gate
    if gate is None:
        return None
    return {
        "questions": gate.questions,
        "before": round(gate.before, 4),
        "after": round(gate.after, 4),
        "blame": None if gate.blame is None else str(gate.blame),
    }


def _told(done: DreamResult, data: dict[str, Any], *, dry: bool) -> str:
    gate = done.report.gate
    if gate is not None and gate.blame is not None:
        return (
            f"Nothing was written: after the phase `{gate.blame}`, {gate.after:.1%} of what people look for "
            f"would be found instead of {gate.before:.1%}. Call `dream` with without=[{str(gate.blame)!r}] "
            "to leave that phase out."
        )
    counts = ", ".join(f"{data[name]} {name}" for name in _COUNTS[2:] if data[name]) or "nothing to change"
    if dry:
        return f"It would be: {counts}."
    if done.id is None:
        return "There was nothing to do."
    return f"Dream {done.id}: {counts}. `undo_dream` with id={done.id} takes it back."


def _undo(call: Call) -> Reply:
    try:
        done = call.engine.dreams.undo(call.given["id"], later=call.get("later", False))
    except NotFound as error:
        raise NotFound(_no_dream(call)) from error
    left = list(done.left)
    said = f"Undone: {', '.join(map(str, done.ids))}; {done.changes} changes."
    also = (
        f"{len(left)} memories were changed since and stay as they are: "
        f"{', '.join(f'#{id_}' for id_ in left[:_MOST_LEFT])}."
        if left
        else None
    )
    return Reply({"undone": list(done.ids), "changes": done.changes, "left": left[:_MOST_LEFT]}, said, also)


def _no_dream(call: Call) -> str:
    known = [each.id for each in call.engine.dreams.history(_MOST_LEFT) if each.undone_at is None]
    there = f"those that can be undone: {', '.join(map(str, known))}" if known else "there is none to undo"
    return f"There is no dream {call.given['id']}; {there}."


DREAM_TOOLS = (
    Tool(
        "dream",
        "Dream",
        "Let the memory sleep: strengthen what was used, let the rest fade, merge repeats, retire copies of "
        "corrected errors. Only when the user asks for it, or after a long stretch of work; look with "
        "`dry_run` first. Nothing is lost: it is tried on past questions first, and can be undone.",
        table(
            needs=(),
            dry_run=flag("Only tell what it would do"),
            without=listed(text(), "Phases to leave out, such as prune or merge"),
        ),
        table(
            {name: whole() for name in _COUNTS},
            id=maybe(whole("The dream's number, if anything was written")),
            gate=maybe(table(questions=whole(), before=number(), after=number(), blame=maybe(text()))),
        ),
        _dream,
        destroys=True,
    ),
    Tool(
        "undo_dream",
        "Undo a dream",
        "Put everything back as it was before a dream. What was changed since stays as it is.",
        table(
            needs=("id",),
            id=whole("The dream's number", minimum=1, maximum=LARGEST_ID),
            later=flag("Undo the dreams after it, too"),
        ),
        table(undone=listed(whole()), changes=whole(), left=listed(whole(), "Memories that were left")),
        _undo,
    ),
)
