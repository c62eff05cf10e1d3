"""Forgetting and restoring, one memory or several at once, each with its undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.serve.http.caller import Right
from recollect.serve.web.pages.forms import joined_ids, sent_form
from recollect.serve.web.templating import Undo, redirect
from recollect.text.phrases import memories_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.engine.engine import Engine
    from recollect.serve.http.face import Face

_NONE_SELECTED = "Nothing is selected. Check the boxes of the memories first; `x` checks the one at hand."


@dataclass(frozen=True, slots=True)
class RestoredMemories:
    forgotten: tuple[int, ...]
    """Those that had been forgotten."""
    superseded: tuple[tuple[int, int], ...]
    """Those that had been superseded, each with what it was superseded by."""
    problems: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.forgotten) + len(self.superseded)


async def forget_memories(face: Face, request: Request) -> Response:
    form = await sent_form(request)
    ids, back = _selected(form.ids("id")), form.back("/browse")
    gone = await face.run(request, lambda memory: memory.forget(ids), right=Right.WRITE)
    if not gone:
        return redirect(request, back, "It was forgotten before, so nothing was changed.", kind="warn")
    undo = Undo("/browse/restore", (("id", joined_ids(gone)), ("back", back)))
    return redirect(request, back, f"Forgot {_named(gone)}. No search finds it now.", undo)


async def restore_memories(face: Face, request: Request) -> Response:
    form = await sent_form(request)
    ids, back = _selected(form.ids("id")), form.back("/browse")
    done = await face.run(request, lambda memory: restored(memory, ids), right=Right.WRITE)
    problems = " ".join(done.problems[:3])
    if not done.count:
        return redirect(request, back, problems, kind="bad")
    back_ids = [*done.forgotten, *(id_ for id_, _ in done.superseded)]
    undo = Undo(
        "/browse/undo-restore",
        (
            ("forgotten", joined_ids(done.forgotten)),
            ("superseded", ",".join(f"{id_}:{by}" for id_, by in done.superseded)),
            ("back", back),
        ),
    )
    said = f"Restored {_named(back_ids)}. {problems}".strip()
    return redirect(request, back, said, undo, kind="warn" if problems else "good")


async def undo_restore(face: Face, request: Request) -> Response:
    form = await sent_form(request)
    forgotten, superseded, back = form.ids("forgotten"), form.pairs("superseded"), form.back("/browse")

    def take_back(memory: Engine) -> None:
        memory.forget(forgotten)
        for id_, by in superseded:
            memory.supersede(id_, by, copies=False)

    await face.run(request, take_back, right=Right.WRITE)
    return redirect(request, back, "It is as it was before.")


def restored(memory: Engine, ids: Iterable[int]) -> RestoredMemories:
    """One by one, so that one whose name is taken meanwhile holds up no other."""
    known = memory.get_many(ids)
    forgotten: list[int] = []
    superseded: list[tuple[int, int]] = []
    problems: list[str] = []
    for id_ in ids:
        try:
            memory.restore(id_)
        except RecollectError as error:
            problems.append(str(error))
            continue
        before = known[id_]
        if before.deleted_at is not None or before.superseded_by is None:
            forgotten.append(id_)
        else:
            superseded.append((id_, before.superseded_by))
    return RestoredMemories(tuple(forgotten), tuple(superseded), tuple(problems))


def _selected(ids: Sequence[int]) -> Sequence[int]:
    if not ids:
        raise InvalidInput(_NONE_SELECTED)
    return ids


def _named(ids: Sequence[int]) -> str:
    return f"#{ids[0]}" if len(ids) == 1 else memories_text(len(ids))
