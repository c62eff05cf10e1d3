"""Small records: tuned numbers, imported files, leases."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from recollect.changes import Dismiss, DropLease, NoteImport, Outcome, TakeLease, TellOnce, TuneProfile
from recollect.conditions import AnyOf, Compares, Equals
from recollect.errors import Conflict
from recollect.retrieval.answer_log import tuned_numbers
from recollect.retrieval.contents import dismissed_setting, import_setting, topic_setting

if TYPE_CHECKING:
    from recollect.engine.writes.work import Work


def tune(work: Work, change: TuneProfile) -> Outcome:
    """Numbers that a profile is given in the place of its published ones; every set of them is kept."""
    scope = work.scope_id(change.scope)
    newest = tuned_numbers(work.rows, scope, change.profile)
    if (0 if newest is None else newest[0]) != change.after:
        raise Conflict(
            f"The profile {change.profile!r} was tuned by someone else meanwhile; look at it with "
            "`recollect tune history`, and try again. Nothing was changed."
        )
    version = work.add(
        "tuned",
        scope_id=scope,
        profile=change.profile,
        at=work.at,
        knobs=json.dumps(dict(change.knobs)),
        why=change.why,
        report=change.report,
    )
    return Outcome(ids=(version,), created=True, count=1)


def note_import(work: Work, change: NoteImport) -> Outcome:
    return _set_once(work, import_setting(change.scope, change.file))


def tell_once(work: Work, change: TellOnce) -> Outcome:
    return _set_once(work, topic_setting(change.topic))


def dismiss(work: Work, change: Dismiss) -> Outcome:
    name = dismissed_setting(change.scope, change.key)
    if change.dismissed:
        return _set_once(work, name)
    return Outcome(count=work.rows.remove("setting", (Equals("name", name),)))


def _set_once(work: Work, name: str) -> Outcome:
    known = work.first("setting", (Equals("name", name),), "name") is not None
    if not known:
        work.rows.put("setting", [{"name": name, "value": str(work.at)}])
    return Outcome(created=not known)


def take_lease(work: Work, change: TakeLease) -> Outcome:
    """Take it, or hold it for longer; `created` tells whether nobody, or somebody late, had it."""
    length = int(change.seconds * 1_000_000)
    until = work.at + length
    if holds_lease(work, change.name, change.holder):
        work.rows.patch("lease", (Equals("name", change.name),), {"until": until})
        return Outcome(count=1)
    # One that ends far ahead was taken before somebody set the clock back.
    late = AnyOf(((Compares("until", "<=", work.at),), (Compares("until", ">", until + length),)))
    work.rows.remove("lease", (Equals("name", change.name), late))
    if work.first("lease", (Equals("name", change.name),), "name") is not None:
        raise Conflict(f"Another process is at it ({change.name}); try again when it has finished.")
    work.rows.put("lease", [{"name": change.name, "holder": change.holder, "until": until}])
    return Outcome(created=True, count=1)


def drop_lease(work: Work, change: DropLease) -> Outcome:
    mine = (Equals("name", change.name), Equals("holder", change.holder))
    return Outcome(count=work.rows.remove("lease", mine))


def holds_lease(work: Work, name: str, holder: str) -> bool:
    return work.first("lease", (Equals("name", name), Equals("holder", holder)), "name") is not None
