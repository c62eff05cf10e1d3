"""Reading the log of answers, and the numbers that profiles were given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.conditions import Compares, Equals, OneOf, Where
from recollect.ports import Snapshot
from recollect.records import LoggedAnswer, LogSize, Tuned
from recollect.retrieval.records import moment
from recollect.tables import Row

_PAGE = 200
_COLUMNS = (
    "id", "at", "handle", "session", "query", "profile", "version", "arm", "against", "shown", "ranked",
    "baseline",
)  # fmt: skip


def logged_answers(
    snapshot: Snapshot, scope: int, profile: str, *, packed: bool = True
) -> Iterator[LoggedAnswer]:
    """The log of a profile's answers, the oldest first, a page at a time: all together may not fit.

    Without `packed`, those without feedback come without their candidates, which take long to read.
    """
    after = 0
    while True:
        where = (Equals("scope_id", scope), Equals("profile", profile), Compares("id", ">", after))
        rows = snapshot.rows("shadow", _COLUMNS, where, limit=_PAGE)
        if not rows:
            return
        yield from _answers(snapshot, rows, packed=packed)
        after = rows[-1][0]


def answer_page(snapshot: Snapshot, where: Where, limit: int) -> list[LoggedAnswer]:
    """Answers that meet the conditions, the newest first; those without feedback without their candidates."""
    rows = snapshot.rows("shadow", _COLUMNS, where, newest_first=True, limit=limit)
    return list(_answers(snapshot, rows, packed=False))


def _answers(snapshot: Snapshot, rows: Sequence[Row], *, packed: bool) -> Iterator[LoggedAnswer]:
    ids = [row[0] for row in rows]
    feedback: dict[int, list[tuple[int, str, float]]] = {}
    for answer, memory, kind, grade in snapshot.rows(
        "feedback",
        ("shadow_id", "memory_id", "kind", "grade"),
        (OneOf("shadow_id", ids),),
        order=("shadow_id", "memory_id", "kind"),
    ):
        feedback.setdefault(answer, []).append((memory, kind, float(grade)))
    wanted = ids if packed else list(feedback)
    candidates: dict[int, bytes] = dict(snapshot.rows("shadow", ("id", "candidates"), (OneOf("id", wanted),)))
    for row in rows:
        read: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
        lists = {name: tuple(json.loads(read[name])) for name in ("shown", "ranked", "baseline")}
        yield LoggedAnswer(
            **{**read, **lists, "at": moment(read["at"])},
            candidates=candidates.get(row[0], b""),
            feedback=tuple(feedback.get(row[0], ())),
        )


def log_sizes(snapshot: Snapshot, scope: int) -> list[LogSize]:
    """How much the log holds of each profile that it knows, by name."""
    judged = {answer for (answer,) in snapshot.rows("feedback", ("shadow_id",))}
    sizes: dict[str, list[int]] = {}
    for id_, profile, arm in snapshot.rows("shadow", ("id", "profile", "arm"), (Equals("scope_id", scope),)):
        size = sizes.setdefault(profile, [0, 0, 0])
        size[0] += 1
        size[1] += arm != "baseline"
        size[2] += id_ in judged
    return [
        LogSize(events, treated, judged_, profile)
        for profile, (events, treated, judged_) in sorted(sizes.items())
    ]


def tuned_numbers(snapshot: Snapshot, scope: int, profile: str) -> tuple[int, Mapping[str, float]] | None:
    """The numbers that a profile was given last, and their version; None: it never was."""
    rows = snapshot.rows(
        "tuned",
        ("id", "knobs"),
        (Equals("scope_id", scope), Equals("profile", profile)),
        newest_first=True,
        limit=1,
    )
    return (int(rows[0][0]), json.loads(rows[0][1])) if rows else None


def tunings(snapshot: Snapshot, scope: int, profile: str | None, limit: int) -> Sequence[Tuned]:
    """Every set of numbers that was given, the newest first; None: to any profile."""
    named = () if profile is None else (Equals("profile", profile),)
    rows = snapshot.rows(
        "tuned",
        ("id", "profile", "at", "knobs", "why", "report"),
        (Equals("scope_id", scope), *named),
        newest_first=True,
        limit=limit,
    )
    return [
        Tuned(version, name, moment(at), json.loads(knobs), why, json.loads(report))
        for version, name, at, knobs, why, report in rows
    ]
