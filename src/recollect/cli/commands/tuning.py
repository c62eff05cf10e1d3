"""`recollect tune` and `recollect feedback`: a profile's numbers, fitted to how this memory is used."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import click

from recollect.cli.command import Call, command, group
from recollect.cli.input import confirm
from recollect.cli.options import DRY_RUN, PROFILE, YES, limit_option, memory_id
from recollect.cli.progress import steps
from recollect.cli.rendering import Block, Result, Table, fields_of, muted, picked, right_aligned, titled
from recollect.cli.times import iso_minute
from recollect.text.phrases import ellipsize, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.engine.tuning.tuning import TuningAnalysis, TuningChange
    from recollect.tuning.search import Proposal

_ARMS = {"ours": "the profile", "baseline": "the baseline", "interleaved": "both, in turns"}
_MEASURES = {"ndcg_5": "NDCG@5", "ndcg_10": "NDCG@10", "lift_5": "Lift@5", "lift_10": "Lift@10"}
_WHY = {"run": "a search", "set": "set by hand", "reset": "reset", "rollback": "rolled back"}
_MOST_SHOWN = 10


@command(
    "feedback",
    "recollect feedback 12 --good",
    "recollect feedback 12 17 --bad --query 'who is allergic to something?'",
)
@click.argument("ids", metavar="ID...", type=memory_id, nargs=-1, required=True)
@click.option("--good/--bad", "good", default=None, help="It was what you looked for, or it was not.")
@click.option("--query", metavar="TEXT", help="For this question; without it, the last that showed it.")
def feedback_command(call: Call, ids: tuple[int, ...], good: bool | None, query: str | None) -> Result:
    """Say whether memories were what you looked for.

    It is kept with the last answer of `recollect recall` or of an agent that showed them; later feedback
    replaces earlier. `recollect tune` learns from it.
    """
    if good is None:
        raise click.UsageError("Say --good or --bad.")
    grade = 1.0 if good else -1.0
    call.memory().feedback(ids, grade, query=query)
    named = ", ".join(f"#{id_}" for id_ in ids)
    data = {"ids": ids, "grade": grade, "query": query}
    return Result.message(f"Noted: {named} {'was' if good else 'was not'} what you looked for.", data)


@command("analyze", "recollect tune analyze", "recollect tune analyze --profile limbic --json")
@PROFILE
def tune_analyze_command(call: Call, profile: str | None) -> Result:
    """Say how a profile does in the log of answers.

    Its ranking against the one it is compared with, by what became of what was shown: opened, found again by
    another question, or judged with `recollect feedback`. Without --profile, the default one; limbic, where
    only that was used. docs/tuning.md defines the measures.

    In a pipe, each line begins with what it is: `log`, `answers`, `measure`, `number`.
    """
    found = call.memory().tuning.analyze(profile)
    seen = found.analysis
    data = {
        **picked(seen, "profile", "against", "events", "treated", "with_feedback", "by_arm", "bias"),
        "overall": seen.overall and {**fields_of(seen.overall), "gain": seen.overall.gain},
        "arms": {arm: {**fields_of(each), "gain": each.gain} for arm, each in seen.arms.items()},
        **picked(seen, "interleaved", "drafted_before", "other_baselines"),
        "numbers": picked(found.numbers, "version", "published", "tuned", "note"),
        "log": found.log,
    }
    return Result(data, _analysis_view(found))


@command(
    "run",
    "recollect tune run --dry-run",
    "recollect tune run",
    "recollect tune run --profile limbic --gamma-range 0.001,0.01,0.1 --beta-sal-range 0.1,0.5,1",
    "recollect tune run --range blend.meaning=0.4,0.5,0.6,0.7",
)
@PROFILE
@click.option(
    "--range",
    "ranges",
    multiple=True,
    metavar="NAME=N,N,…",
    help="Try these values of a number; repeatable, all combinations are tried.",
)
@click.option("--gamma-range", "gamma", metavar="N,N,…", help="As --range gamma=…")
@click.option("--beta-sal-range", "beta_sal", metavar="N,N,…", help="As --range beta_sal=…")
@DRY_RUN
def tune_run_command(
    call: Call, profile: str | None, ranges: tuple[str, ...], dry_run: bool, **named: str | None
) -> Result:
    """Look for better numbers, and take a step towards them.

    The numbers are chosen on questions that came up first and judged on those that came up later. Only if
    they are better there beyond chance is anything written: a tenth of the way, from the next answer on, in
    every process. `recollect tune rollback` takes it back. It needs at least 50 answers.

    In a pipe, each line begins with what it is: `verdict`, `number`, `better`, `worse`.
    """
    listed = [*ranges, *(f"{name}={each}" for name, each in named.items() if each is not None)]
    wanted = dict(_parse_numbers(each, "NAME=0.1,0.5,1") for each in listed)
    if len(wanted) < len(listed):
        raise click.UsageError("A number has several ranges; give one, with commas between its values.")
    memory = call.memory()
    with steps("Trying numbers"):
        done = memory.tuning.run(profile, ranges=wanted or None, dry_run=dry_run)
    found = done.proposal
    assert found is not None  # noqa: S101  # a search finds something, if only that there is nothing
    changes = picked(done, "written", "version", "before", "after")
    data = {**fields_of(found), "dry_run": dry_run, **changes}
    return Result(data, _search_view(done, found, dry_run=dry_run))


@command(
    "set",
    "recollect tune set gamma=0.05 beta_sal=0.75 --profile limbic",
    "recollect tune set blend.meaning=0.7 --exactly",
)
@click.argument("values", metavar="NAME=N...", nargs=-1, required=True)
@PROFILE
@click.option("--exactly", is_flag=True, help="All the way; without it, a tenth of the way.")
@DRY_RUN
def tune_set_command(
    call: Call, values: tuple[str, ...], profile: str | None, exactly: bool, dry_run: bool
) -> Result:
    """Move numbers of a profile, from the next answer on.

    They move a tenth of the way from what they are, so that no single guess upsets the ranking; run it again
    to move on, or use --exactly to jump. `recollect profile show NAME` lists the numbers.
    """
    wanted = dict(_parse_numbers(each, "NAME=0.5") for each in values)
    if len(wanted) < len(values) or any(len(numbers) > 1 for numbers in wanted.values()):
        raise click.UsageError("A number is given twice; give it once.")
    numbers = {name: number for name, (number,) in wanted.items()}
    done = call.memory().tuning.set(numbers, profile, exactly=exactly, dry_run=dry_run)
    return _changed(done, dry_run=dry_run)


@command("reset", "recollect tune reset", "recollect tune reset --profile limbic --yes")
@PROFILE
@DRY_RUN
@YES
def tune_reset_command(call: Call, profile: str | None, dry_run: bool, yes: bool) -> Result:
    """Give a profile its published numbers back.

    What they were stays in the history; `recollect tune rollback` brings it back.
    """
    change = partial(call.memory().tuning.reset, profile)
    return _confirmed(change, "Reset the profile {} to its published numbers?", dry_run=dry_run, yes=yes)


@command("history", "recollect tune history", "recollect tune history --profile limbic --json")
@PROFILE
@limit_option(20, "Versions at most.")
def tune_history_command(call: Call, profile: str | None, limit: int) -> Result:
    """List every set of numbers that a profile was given, the newest first.

    In a pipe, the fields of a line are: version, when, profile, why, numbers, gain.
    """
    versions, rows = [], []
    for each in call.memory().tuning.history(profile, limit):
        known = picked(each, "version", "at", "profile", "why")
        versions.append({**known, "numbers": each.knobs, "report": each.report})
        numbers = ", ".join(f"{name} {value:.6g}" for name, value in each.knobs.items())
        gain = each.report.get("gain")
        rows.append(
            (
                *(str(each.version), iso_minute(each.at, call.zone), each.profile, _WHY[each.why]),
                *(numbers or "as published", f"{gain['mean']:+.4f}" if isinstance(gain, dict) else ""),
            )
        )
    next_ = "Go back to one: recollect tune rollback VERSION"
    if not rows:
        next_ = "No profile was tuned yet. To look whether it helps: recollect tune run --dry-run"
    columns = ("Version", "When", "Profile", "Why", "Numbers", "Gain")
    return Result.table({"versions": versions}, columns, rows, next_)


@command(
    "rollback", "recollect tune rollback", "recollect tune rollback 3", "recollect tune rollback 0 --yes"
)
@click.argument("version", type=click.IntRange(0), required=False)
@PROFILE
@DRY_RUN
@YES
def tune_rollback_command(
    call: Call, version: int | None, profile: str | None, dry_run: bool, yes: bool
) -> Result:
    """Give a profile the numbers of an earlier version back.

    Without a version, those before the last change; run again, those before that. 0 is the profile as
    published. A rollback is itself a new version, so nothing is lost.
    """
    change = partial(call.memory().tuning.rollback, version, profile)
    return _confirmed(change, "Give the profile {} its earlier numbers back?", dry_run=dry_run, yes=yes)


@command("empty-log", "recollect tune empty-log --yes")
@YES
def tune_empty_log_command(call: Call, yes: bool) -> Result:
    """Empty the log of answers, and forget what was asked.

    What `recollect tune run` learns from is gone then, for good; numbers that were tuned stay.
    """
    confirm("Empty the log of answers? There is no way back.", yes=yes)
    count = call.memory().tuning.empty_log()
    return Result.message(f"The log is empty; {quantity(count, 'answer')} went.", {"emptied": count})


@group(
    "tune",
    (
        tune_analyze_command,
        tune_run_command,
        tune_set_command,
        tune_reset_command,
        tune_history_command,
        tune_rollback_command,
        tune_empty_log_command,
    ),
    "recollect tune run --dry-run",
    "recollect tune history",
)
def tune_command(_: Call) -> None:
    """Fit a profile's numbers to how this memory is used.

    Every answer is logged on this machine with the ranking it would have had otherwise, and with what became
    of it. From that, `recollect tune run` finds better numbers, if there are any. The setting `shadow`
    switches the log off, `log = "no-text"` keeps what was asked out of it, and `tune empty-log` empties it.
    """


def _parse_numbers(given: str, example: str) -> tuple[str, tuple[float, ...]]:
    """A name, and the numbers after the sign, with commas between."""
    name, _, values = given.partition("=")
    texts = [text.strip() for text in values.split(",") if text.strip()]
    if not name.strip() or not texts:
        raise click.UsageError(f"{given!r} gives no number; write it as {example}.")
    try:
        return name.strip(), tuple(map(float, texts))
    except ValueError:
        raise click.UsageError(f"In {given!r}, not all are numbers; write it as {example}.") from None


def _analysis_view(found: TuningAnalysis) -> Iterator[Block]:
    seen, log, numbers = found.analysis, found.log, found.numbers
    yield titled(f"Profile {seen.profile}")
    log_rows = [
        ("log", "on" if log.on else "off"),
        ("A/B", log.design if log.design != "split" else f"split, {log.share:.0%} get the profile"),
        ("compared with", log.against),
        ("seed", log.seed),
        *((f"answers by {each.profile}", f"{each.events:,}") for each in log.sizes),
    ]
    yield Table(("", ""), log_rows, "log")
    answers = [
        ("all", seen.events),
        *((f"  shown {_ARMS[arm]}", count) for arm, count in seen.by_arm.items()),
        ("treated", seen.treated),
        ("with feedback", seen.with_feedback),
    ]
    yield Table(("Answers logged", ""), answers, "answers")
    if seen.overall is not None:
        ours, other = asdict(seen.overall.ours), asdict(seen.overall.baseline)
        measures = [
            (title, f"{ours[name]:.4f}", f"{other[name]:.4f}", f"{ours[name] - other[name]:+.4f}")
            for name, title in _MEASURES.items()
        ]
        titles = right_aligned("the profile", seen.against, "difference")
        yield Table(("Measure", *titles), measures, "measure")
    number_rows = [
        (name, f"{value:.6g}", f"{numbers.tuned[name]:.6g}" if name in numbers.tuned else "")
        for name, value in numbers.published.items()
    ]
    tuned = f"tuned, version {numbers.version}" if numbers.version else "tuned"
    yield Table(("Number", *right_aligned("published", tuned)), number_rows, "number")
    attention = "Nothing became of any answer yet: nothing was opened, found again, or judged."
    if seen.with_feedback:
        eta = f"p^-{seen.bias.eta:.2f} (± {seen.bias.spread:.2f})"
        attention = f"Attention falls with the place p as {eta}; feedback is weighed against it."
    left = quantity(seen.other_baselines, "answer")
    unreadable = quantity(log.unreadable, "answer")
    yield from muted(
        attention,
        f"Left out: {left} that showed another baseline than {seen.against}." if seen.other_baselines else "",
        f"{unreadable} of another version cannot be ranked again." if log.unreadable else "",
        numbers.note or "",
    )


def _search_view(done: TuningChange, found: Proposal, *, dry_run: bool) -> Iterator[Block]:
    yield titled(found.says)
    yield Table(("", ""), list(_verdict(done, found, dry_run=dry_run)), "verdict")
    if found.best:
        step = "would be" if dry_run else "is now"
        applied = {name: f"{value:.6g}" for name, value in done.after.items()}
        rows = [
            (name, f"{found.now[name]:.6g}", f"{value:.6g}", applied.get(name, ""))
            for name, value in found.best.items()
        ]
        yield Table(("Number", *right_aligned("was", "best", step)), rows, "number")
    for title, moved in (("Better", found.better), ("Worse", found.worse)):
        if moved:
            rows = [
                (
                    ellipsize(each.query, 60),
                    f"#{each.memory}",
                    str(each.before or "–"),
                    str(each.after or "–"),
                )
                for each in moved[:_MOST_SHOWN]
            ]
            titles = right_aligned("stood at", "would at")
            yield Table((title, "memory", *titles), rows, title.lower(), total=len(moved))


def _verdict(done: TuningChange, found: Proposal, *, dry_run: bool) -> Iterator[tuple[str, str]]:
    yield "profile", done.profile
    yield "verdict", found.verdict
    yield "because", found.says
    yield "treated answers", f"{found.treated:,}"
    if found.points:
        yield "sets of numbers tried", f"{found.points:,}"
        yield "chosen on", quantity(found.train, "answer")
        yield "judged on", quantity(found.test, "answer")
    if found.gain is not None:
        gain = found.gain
        yield "NDCG@10 now", f"{found.ndcg_now:.4f}"
        yield "NDCG@10 with the best", f"{found.ndcg_best:.4f}"
        yield "gain", f"{gain.mean:+.4f} ({gain.low:+.4f} to {gain.high:+.4f}), p {gain.p:.3f}"
    if done.written:
        yield "written", f"version {done.version}; take it back with: recollect tune rollback"
    elif dry_run and done.after:
        yield "written", "nothing; without --dry-run, a tenth of the way to the best"
    else:
        yield "written", "nothing"


def _confirmed(change: Callable[..., TuningChange], question: str, *, dry_run: bool, yes: bool) -> Result:
    would = change(dry_run=True)
    if would.before and not dry_run:
        confirm(question.format(would.profile), yes=yes)
    return _changed(change(dry_run=dry_run), dry_run=dry_run)


def _changed(done: TuningChange, *, dry_run: bool) -> Result:
    data = picked(done, "profile", "version", "written", "before", "after")
    if not done.before:
        return Result.message(f"The numbers of {done.profile} are that already; nothing was changed.", data)
    details = [f"{name}: {done.before[name]:.6g} → {value:.6g}" for name, value in done.after.items()]
    gone = [(name, value) for name, value in done.before.items() if name not in done.after]
    details += [f"{name}: {value:.6g} → gone, the profile takes it no longer" for name, value in gone]
    text = f"{done.profile} has other numbers from the next answer on, as version {done.version}:"
    if dry_run:
        text = f"It would change {quantity(len(details), 'number')} of {done.profile}:"
    return Result.message(text, data, details)
