"""What `recollect tune` has to say, as tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recollect.cli.dates import moment
from recollect.cli.replies import Done, Rows, Sheets
from recollect.cli.tune import numbers_said
from recollect.cli.wording import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from recollect.engine.tuning import Analyzed, Changed, Log, Numbers
    from recollect.records import Tuned
    from recollect.tune.analysis import Compared, Draws
    from recollect.tune.search import Moved, Proposal

_ARMS = {"ours": "the profile", "baseline": "the baseline", "interleaved": "both, drafted"}
_MOST_SHOWN = 10
_WHY = {"run": "a search", "set": "set by hand", "reset": "reset", "rollback": "rolled back"}


def analyzed(told: Analyzed) -> Sheets:
    seen = told.analysis
    sheets = [
        ("log", _log(told.log)),
        (
            "answers",
            Rows(
                None,
                ("Answers logged", ""),
                [
                    ("all", f"{seen.events:,}"),
                    *((f"  shown {_ARMS[arm]}", f"{count:,}") for arm, count in seen.by_arm.items()),
                    ("treated", f"{seen.treated:,}"),
                    ("with feedback", f"{seen.with_feedback:,}"),
                ],
                right=(1,),
            ),
        ),
    ]
    if seen.overall is not None:
        sheets.append(("measure", _measures(seen.overall, seen.against)))
    drawn = seen.interleaved
    if drawn.wins or drawn.losses or drawn.ties or seen.drafted_before:
        sheets.append(("drafts", _drafts(seen.interleaved, seen.drafted_before)))
    sheets.append(("number", _numbers(told.numbers)))
    eta = f"Attention falls with the place p as p^-{seen.bias.eta:.2f} (± {seen.bias.spread:.2f})"
    notes = [f"{eta}; feedback is weighed against it."] if seen.with_feedback else []
    if not seen.with_feedback:
        notes.append("Nothing became of any answer yet: nothing was opened, found again, or judged.")
    if seen.other_baselines:
        left = counted(seen.other_baselines, "answer")
        notes.append(f"Left out: {left} that showed another baseline than {seen.against}.")
    if told.log.unreadable:
        notes.append(f"{counted(told.log.unreadable, 'answer')} of another version cannot be ranked again.")
    if told.numbers.note:
        notes.append(told.numbers.note)
    return Sheets(f"Profile {seen.profile}", _analysis_data(told), tuple(sheets), tuple(notes))


def _log(log: Log) -> Rows:
    rows = [
        ("log", "on" if log.on else "off"),
        ("A/B", log.design if log.design != "split" else f"split, {log.share:.0%} get the profile"),
        ("compared with", log.against),
        ("seed", log.seed),
        *((f"answers by {each.profile}", f"{each.events:,}") for each in log.sizes),
    ]
    return Rows(None, ("", ""), rows)


def _measures(compared: Compared, against: str) -> Rows:
    names = {"ndcg_5": "NDCG@5", "ndcg_10": "NDCG@10", "lift_5": "Lift@5", "lift_10": "Lift@10"}
    ours, other = asdict(compared.ours), asdict(compared.baseline)
    rows = [
        (said, f"{ours[name]:.4f}", f"{other[name]:.4f}", f"{ours[name] - other[name]:+.4f}")
        for name, said in names.items()
    ]
    return Rows(None, ("Measure", "the profile", against, "difference"), rows, right=(1, 2, 3))


def _drafts(draws: Draws, before: int) -> Rows:
    rows = [
        ("the profile's picks used more", f"{draws.wins:,}"),
        ("the baseline's", f"{draws.losses:,}"),
        ("both alike", f"{draws.ties:,}"),
        ("by chance, p", f"{draws.p:.3f}"),
        *([("with earlier numbers, not counted", f"{before:,}")] if before else []),
    ]
    return Rows(None, ("Drafted answers", ""), rows, right=(1,))


def _numbers(numbers: Numbers) -> Rows:
    rows = [
        (name, f"{value:.6g}", f"{numbers.tuned[name]:.6g}" if name in numbers.tuned else "")
        for name, value in numbers.published.items()
    ]
    tuned = f"tuned, version {numbers.version}" if numbers.version else "tuned"
    return Rows(None, ("Number", "published", tuned), rows, right=(1, 2))


def searched(done: Changed, *, dry_run: bool) -> Sheets:
    found = done.proposal
    assert found is not None  # noqa: S101  # who searches has found something, if only that there is nothing
    sheets = [("verdict", _verdict(done, found, dry_run=dry_run))]
    if found.best:
        applied = done.after
        rows = [
            (
                name,
                f"{found.now[name]:.6g}",
                f"{value:.6g}",
                f"{applied[name]:.6g}" if name in applied else "",
            )
            for name, value in found.best.items()
        ]
        step = "would be" if dry_run else "is now"
        sheets.append(("number", Rows(None, ("Number", "was", "best", step), rows, right=(1, 2, 3))))
    for title, key, moved in (("Better", "better", found.better), ("Worse", "worse", found.worse)):
        if moved:
            sheets.append((key, _moved(title, moved)))
    return Sheets(found.says, _search_data(done, found, dry_run=dry_run), tuple(sheets))


def _verdict(done: Changed, found: Proposal, *, dry_run: bool) -> Rows:
    rows = [
        ("profile", done.profile),
        ("verdict", found.verdict),
        ("because", found.says),
        ("treated answers", f"{found.treated:,}"),
    ]
    if found.points:
        rows += [
            ("sets of numbers tried", f"{found.points:,}"),
            ("chosen on", counted(found.train, "answer")),
            ("judged on", counted(found.test, "answer")),
        ]
    if found.gain is not None:
        gain = found.gain
        rows += [
            ("NDCG@10 now", f"{found.ndcg_now:.4f}"),
            ("NDCG@10 with the best", f"{found.ndcg_best:.4f}"),
            ("gain", f"{gain.mean:+.4f} ({gain.low:+.4f} to {gain.high:+.4f}), p {gain.p:.3f}"),
        ]
    written = "nothing"
    if done.written:
        written = f"version {done.version}; take it back with: recollect tune rollback"
    elif dry_run and done.after:
        written = "nothing; without --dry-run, a tenth of the way to the best"
    return Rows(None, ("", ""), [*rows, ("written", written)])


def _moved(title: str, moved: Sequence[Moved]) -> Rows:
    rows = [
        (shortened(each.query, 60), f"#{each.memory}", _place(each.before), _place(each.after))
        for each in moved[:_MOST_SHOWN]
    ]
    more = len(moved) - _MOST_SHOWN
    footer = f"and {more:,} more; --json lists them all." if more > 0 else ""
    return Rows(None, (title, "memory", "stood at", "would at"), rows, footer=footer, right=(2, 3))


def _place(place: int) -> str:
    return str(place) if place else "–"


def changed(done: Changed, *, dry_run: bool) -> Done:
    data = {
        "profile": done.profile,
        "version": done.version,
        "written": done.written,
        "before": dict(done.before),
        "after": dict(done.after),
    }
    if not done.before:
        return Done(f"The numbers of {done.profile} are that already; nothing was changed.", data)
    details = [f"{name}: {done.before[name]:.6g} → {value:.6g}" for name, value in done.after.items()]
    gone = [(name, value) for name, value in done.before.items() if name not in done.after]
    details += [f"{name}: {value:.6g} → gone, the profile takes it no longer" for name, value in gone]
    if dry_run:
        return Done(f"It would change {counted(len(details), 'number')} of {done.profile}:", data, details)
    said = f"{done.profile} has other numbers from the next answer on, as version {done.version}:"
    return Done(said, data, details)


def listed(found: Sequence[Tuned], zone: tzinfo | None) -> Rows:
    rows = [
        (
            str(each.version),
            moment(each.at, zone),
            each.profile,
            _WHY[each.why],
            numbers_said(each.knobs) or "as published",
            _gain(each.report),
        )
        for each in found
    ]
    footer = (
        "Go back to one: recollect tune rollback VERSION"
        if found
        else "No profile was tuned yet. To look whether it helps: recollect tune run --dry-run"
    )
    data = {
        "versions": [
            {
                "version": each.version,
                "at": each.at.isoformat(),
                "profile": each.profile,
                "why": each.why,
                "numbers": dict(each.knobs),
                "report": dict(each.report),
            }
            for each in found
        ]
    }
    columns = ("Version", "When", "Profile", "Why", "Numbers", "Gain")
    return Rows(data, columns, rows, footer=footer)


def _gain(report: Mapping[str, Any]) -> str:
    gain = report.get("gain")
    return f"{gain['mean']:+.4f}" if isinstance(gain, dict) else ""


def _analysis_data(told: Analyzed) -> dict[str, Any]:
    seen = told.analysis
    return {
        "profile": seen.profile,
        "against": seen.against,
        "events": seen.events,
        "treated": seen.treated,
        "with_feedback": seen.with_feedback,
        "by_arm": dict(seen.by_arm),
        "bias": asdict(seen.bias),
        "overall": None if seen.overall is None else _compared_data(seen.overall),
        "arms": {arm: _compared_data(each) for arm, each in seen.arms.items()},
        "interleaved": asdict(seen.interleaved),
        "drafted_before": seen.drafted_before,
        "other_baselines": seen.other_baselines,
        "numbers": numbers_data(told.numbers),
        "log": asdict(told.log),
    }


def _compared_data(compared: Compared) -> dict[str, Any]:
    return {**asdict(compared), "gain": compared.gain}


def numbers_data(numbers: Numbers) -> dict[str, Any]:
    return {
        "version": numbers.version,
        "published": dict(numbers.published),
        "tuned": dict(numbers.tuned),
        "note": numbers.note,
    }


def _search_data(done: Changed, found: Proposal, *, dry_run: bool) -> dict[str, Any]:
    return {
        **asdict(found),
        "dry_run": dry_run,
        "written": done.written,
        "version": done.version,
        "before": dict(done.before),
        "after": dict(done.after),
    }
