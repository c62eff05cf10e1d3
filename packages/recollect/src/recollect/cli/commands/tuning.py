"""Commands about ranking: feedback, tune, profile, eval and bench."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from recollect.cli.command import Call, ExtraCommand, command, group, option
from recollect.cli.options import (
    DRY_RUN,
    HIDDEN_DRY_RUN,
    PROFILE,
    YES,
    all_profiles,
    complete_profile,
    confirm,
    iso_minute,
    limit_option,
    memory_id,
)
from recollect.cli.rendering import (
    Column,
    Paragraph,
    Result,
    Styled,
    Table,
    Verbatim,
    fields_of,
    muted,
    picked,
    progress,
    right_aligned,
    stacked,
    steps,
    titled,
)
from recollect.domain.limits import DEFAULT_PROFILE
from recollect.text.phrases import ellipsize, memories_text, one_line, quantity, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from recollect.cli.rendering import Block
    from recollect.ranking.candidates import Profile
    from recollect.self_test.questions import FoundShare, SelfTest
    from recollect.tuning.search import Proposal
    from recollect.tuning.tuning import ProfileNumbers, TuningAnalysis, TuningChange


_VARIANTS = {"ours": "the profile", "baseline": "the baseline", "interleaved": "both, in turns"}
_MEASURES = {"ndcg_5": "NDCG@5", "ndcg_10": "NDCG@10", "lift_5": "Lift@5", "lift_10": "Lift@10"}
_CAUSES = {"run": "tune run", "set": "set by hand", "reset": "reset", "rollback": "rolled back"}
_MAX_SHOWN = 10


@command("feedback", "recollect feedback 12 --good", "recollect feedback 12 17 --bad")
@click.argument("ids", metavar="ID...", type=memory_id, nargs=-1, required=True)
@option("--good/--bad", "Whether these memories were what you looked for.", to="good", default=None)
@option("--query TEXT")
def feedback_command(call: Call, ids: tuple[int, ...], good: bool | None, query: str | None) -> Result:
    """Say whether memories were what you looked for.

    The feedback applies to the last answer that showed them, by `recollect recall` or to an agent. Later
    feedback replaces it. `recollect tune` learns from it.
    """
    if good is None:
        raise click.UsageError("Give --good or --bad.")
    grade = 1.0 if good else -1.0
    call.memory().feedback(ids, grade, query=query)
    named = ", ".join(f"#{id_}" for id_ in ids)
    data = {"ids": ids, "grade": grade, "query": query}
    verb = "was" if len(ids) == 1 else "were"
    return Result.message(f"Noted: {named} {verb}{'' if good else ' not'} what you looked for.", data)


@command("analyze", "recollect tune analyze", "recollect tune analyze --profile limbic --json")
@PROFILE
def tune_analyze_command(call: Call, profile: str | None) -> Result:
    """Measure how well a profile ranked, from the log of answers.

    It compares the profile's ranking with its baseline, by what you did with the hits: opened them, searched
    again, or judged them with `recollect feedback`. docs/guides/tuning.md defines the measures.
    """
    found = call.memory().tuning.analyze(profile)
    seen = found.analysis
    data = {
        **picked(seen, "profile", "against", "events", "treated", "with_feedback", "by_arm", "bias"),
        "overall": seen.overall and {**fields_of(seen.overall), "gain": seen.overall.gain},
        "arms": {arm: {**fields_of(each), "gain": each.gain} for arm, each in seen.arms.items()},
        "other_baselines": seen.other_baselines,
        "numbers": picked(found.numbers, "version", "published", "tuned", "note"),
        "log": found.log,
    }
    return Result(data, _analysis_view(found))


@command(
    "run",
    "recollect tune run --dry-run",
    "recollect tune run",
    "recollect tune run --profile limbic --range gamma=0.001,0.01,0.1",
    "recollect tune run --range meaning.cosine=0.1,0.2,0.3",
)
@PROFILE
@option(
    "--range NAME=N,N,…...", "Values to try for one number; repeatable; tries all combinations.", to="ranges"
)
@option("--gamma-range TEXT", to="gamma")
@option("--beta-sal-range TEXT", to="beta_sal")
@DRY_RUN
def tune_run_command(
    call: Call, profile: str | None, ranges: tuple[str, ...], dry_run: bool, **named: str | None
) -> Result:
    """Search for better numbers, and move towards them.

    It chooses numbers on the earlier logged answers and tests them on the later ones. If they are
    significantly better there, the profile's numbers move a tenth of the way, from the next answer on, in
    every process. `recollect tune rollback` reverts that. The log must have at least 50 answers.
    """
    listed = [*ranges, *(f"{name}={each}" for name, each in named.items() if each is not None)]
    wanted = dict(_parse_numbers(each, "NAME=0.1,0.5,1") for each in listed)
    if len(wanted) < len(listed):
        raise click.UsageError("--range is given twice for one number; join its values with commas.")
    memory = call.memory()
    with steps("Trying numbers"):
        done = memory.tuning.run(profile, ranges=wanted or None, dry_run=dry_run)
    found = done.proposal
    assert found is not None  # noqa: S101  # a run always returns a proposal, even if no numbers are better
    changes = picked(done, "written", "version", "before", "after")
    data = {**fields_of(found), "dry_run": dry_run, **changes}
    return Result(data, _search_view(done, found, dry_run=dry_run))


@command(
    "set",
    "recollect tune set gamma=0.05 beta_sal=0.75 --profile limbic",
    "recollect tune set meaning.cosine=0.3 --exactly",
)
@click.argument("values", metavar="NAME=N...", nargs=-1, required=True)
@PROFILE
@option("--exactly", "Set them exactly (default: move a tenth of the way).")
@HIDDEN_DRY_RUN
def tune_set_command(
    call: Call, values: tuple[str, ...], profile: str | None, exactly: bool, dry_run: bool
) -> Result:
    """Change numbers of a profile, from the next answer on.

    They move a tenth of the way to the given values, so that one guess cannot upset the ranking. Run it again
    to move further, or use --exactly. `recollect profile NAME` lists the numbers.
    """
    wanted = dict(_parse_numbers(each, "NAME=0.5") for each in values)
    if len(wanted) < len(values) or any(len(numbers) > 1 for numbers in wanted.values()):
        raise click.UsageError("Each number takes one value; give it once.")
    numbers = {name: number for name, (number,) in wanted.items()}
    return _apply_change(partial(call.memory().tuning.set, numbers, profile, exactly=exactly), dry_run)


@command("reset", "recollect tune reset --profile limbic --yes", hidden=True)
@PROFILE
@HIDDEN_DRY_RUN
@YES
def tune_reset_command(call: Call, profile: str | None, dry_run: bool, yes: bool) -> Result:
    """Set a profile's numbers back to the published ones, version 0."""
    change = partial(call.memory().tuning.reset, profile)
    return _apply_change(change, dry_run, "Reset the profile {} to its published numbers?", yes=yes)


@command("history", "recollect tune history --profile limbic --json", hidden=True)
@PROFILE
@limit_option(20, "Maximum number of versions.")
def tune_history_command(call: Call, profile: str | None, limit: int) -> Result:
    """List the versions of a profile's numbers, the newest first."""
    versions, rows = [], []
    for each in call.memory().tuning.history(profile, limit):
        known = picked(each, "version", "at", "profile", "why")
        versions.append({**known, "numbers": each.knobs, "report": each.report})
        numbers = ", ".join(f"{name} {value:.6g}" for name, value in each.knobs.items())
        gain = each.report.get("gain")
        rows.append(
            (
                *(str(each.version), iso_minute(each.at, call.zone), each.profile, _CAUSES[each.why]),
                *(numbers or "as published", signed(gain["mean"]) if isinstance(gain, dict) else ""),
            )
        )
    next_ = "To go back to one: recollect tune rollback VERSION"
    if not rows:
        next_ = "No profile has been tuned yet. To see whether tuning helps: recollect tune run --dry-run"
    columns = ("Version", "When", "Profile", "Why", "Numbers", "Gain")
    return Result.table({"versions": versions}, columns, rows, next_)


@command(
    "rollback", "recollect tune rollback", "recollect tune rollback 3", "recollect tune rollback 0 --yes"
)
@click.argument("version", type=click.IntRange(0), required=False)
@PROFILE
@HIDDEN_DRY_RUN
@YES
def tune_rollback_command(
    call: Call, version: int | None, profile: str | None, dry_run: bool, yes: bool
) -> Result:
    """Set a profile's numbers back to an earlier version.

    Without VERSION, it goes back by one change; run it again to go back further. Version 0 is the profile as
    published. A rollback is a new version, so nothing is lost.
    """
    change = partial(call.memory().tuning.rollback, version, profile)
    return _apply_change(change, dry_run, "Set the profile {} back to its earlier numbers?", yes=yes)


@command("empty-log", "recollect tune empty-log --yes", hidden=True)
@YES
def tune_empty_log_command(call: Call, yes: bool) -> Result:
    """Delete the log of answers, with all logged questions.

    `recollect tune run` then has nothing to learn from. Tuned numbers stay. It cannot be undone.
    """
    confirm("Delete the log of answers? It cannot be undone.", yes=yes)
    count = call.memory().tuning.empty_log()
    return Result.message(f"Deleted {quantity(count, 'logged answer')}.", {"emptied": count})


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
    "recollect tune analyze",
    "recollect tune run --dry-run",
)
def tune_command(_: Call) -> None:
    """Fit a profile's numbers to how you use this memory.

    Each answer is logged on this machine, with the ranking of a baseline and what you did with the hits. From
    that log, `recollect tune run` searches for better numbers. The setting `shadow` turns the log off,
    `log = "no-text"` leaves the questions out of it, and `recollect tune empty-log` deletes it.
    """


def _parse_numbers(given: str, example: str) -> tuple[str, tuple[float, ...]]:
    """Parse `NAME=1,2,3` into the name and the numbers."""
    name, _, values = given.partition("=")
    texts = [text.strip() for text in values.split(",") if text.strip()]
    if not name.strip() or not texts:
        raise click.UsageError(f"{given!r} lacks a name or a number; write it as {example}.")
    try:
        return name.strip(), tuple(map(float, texts))
    except ValueError:
        raise click.UsageError(
            f"{given!r} has a value that is not a number; write it as {example}."
        ) from None


def _analysis_view(found: TuningAnalysis) -> Iterator[Block]:
    seen, log, numbers = found.analysis, found.log, found.numbers
    yield titled(f"Profile {seen.profile}")
    log_rows = [
        ("log", "on" if log.on else "off"),
        ("A/B test", log.design if log.design != "split" else f"split, {log.share:.0%} get the profile"),
        ("compared with", log.against),
        ("seed", log.seed),
        *((f"answers by {each.profile}", f"{each.events:,}") for each in log.sizes),
    ]
    yield Table(("", ""), log_rows)
    answers = [
        ("all", seen.events),
        *((f"  shown {_VARIANTS[arm]}", count) for arm, count in seen.by_arm.items()),
        ("changed by the profile", seen.treated),
        ("with feedback", seen.with_feedback),
    ]
    yield Table(("Answers logged", ""), answers)
    if seen.overall is not None:
        ours, other = asdict(seen.overall.ours), asdict(seen.overall.baseline)
        measures = [
            (title, f"{ours[name]:.4f}", f"{other[name]:.4f}", signed(ours[name] - other[name]))
            for name, title in _MEASURES.items()
        ]
        titles = right_aligned("the profile", seen.against, "difference")
        yield Table(("Measure", *titles), measures)
    number_rows = [
        (name, f"{value:.6g}", f"{numbers.tuned[name]:.6g}" if name in numbers.tuned else "")
        for name, value in numbers.published.items()
    ]
    tuned = f"tuned, version {numbers.version}" if numbers.version else "tuned"
    yield Table(("Number", *right_aligned("published", tuned)), number_rows)
    attention = "No answer has feedback yet: no hit was opened, searched for again, or judged."
    if seen.with_feedback:
        eta = f"p^-{seen.bias.eta:.2f} (± {seen.bias.spread:.2f})"
        attention = f"Attention to a hit falls with its rank p as {eta}; feedback is corrected for that."
    left = quantity(seen.other_baselines, "answer")
    unreadable = quantity(log.unreadable, "answer")
    yield from muted(
        attention,
        f"Left out: {left} with a baseline other than {seen.against}." if seen.other_baselines else "",
        f"Left out: {unreadable}, logged in a format that this version cannot read."
        if log.unreadable
        else "",
        numbers.note or "",
    )


def _search_view(done: TuningChange, found: Proposal, *, dry_run: bool) -> Iterator[Block]:
    written = "nothing"
    if done.written:
        written = f"version {done.version}; to undo: recollect tune rollback"
    elif dry_run and done.after:
        written = "nothing; without --dry-run, a tenth of the way"
    verdict = [
        ("profile", done.profile),
        ("verdict", found.verdict),
        ("answers changed by the profile", f"{found.treated:,}"),
    ]
    if found.points:
        verdict += [
            ("sets of numbers tried", f"{found.points:,}"),
            ("chosen on", quantity(found.train, "answer")),
            ("judged on", quantity(found.test, "answer")),
        ]
    if found.gain is not None:
        gain = found.gain
        verdict += [
            ("NDCG@10 now", f"{found.ndcg_now:.4f}"),
            ("NDCG@10 with the best", f"{found.ndcg_best:.4f}"),
            ("gain", f"{signed(gain.mean)} ({signed(gain.low)} to {signed(gain.high)}), p {gain.p:.3f}"),
        ]
    yield titled(found.says)
    yield Table(("", ""), [*verdict, ("written", written)])
    if found.best:
        step = "would be" if dry_run else "is now"
        applied = {name: f"{value:.6g}" for name, value in done.after.items()}
        rows = [
            (name, f"{found.now[name]:.6g}", f"{value:.6g}", applied.get(name, ""))
            for name, value in found.best.items()
        ]
        yield Table(("Number", *right_aligned("was", "best", step)), rows)
    for title, moved in (("Better", found.better), ("Worse", found.worse)):
        rows = [
            (ellipsize(each.query, 60), f"#{each.memory}", str(each.before or "–"), str(each.after or "–"))
            for each in moved[:_MAX_SHOWN]
        ]
        if rows:
            titles = right_aligned("was at", "would be at")
            yield Table((title, "memory", *titles), rows, total=len(moved))


def _apply_change(
    change: Callable[..., TuningChange], dry_run: bool, question: str = "", *, yes: bool = True
) -> Result:
    """Make the change after a confirmation, and show it."""
    if not yes and not dry_run:
        would = change(dry_run=True)
        if would.before:
            confirm(question.format(would.profile), yes=yes)
    done = change(dry_run=dry_run)
    data = picked(done, "profile", "version", "written", "before", "after")
    if not done.before:
        return Result.message(f"{done.profile} has these numbers already; nothing was changed.", data)
    details = [f"{name}: {done.before[name]:.6g} → {value:.6g}" for name, value in done.after.items()]
    gone = [(name, value) for name, value in done.before.items() if name not in done.after]
    details += [f"{name}: {value:.6g} → removed, the profile no longer uses it" for name, value in gone]
    text = f"{done.profile} has new numbers from the next answer on, version {done.version}:"
    if dry_run:
        text = f"This would change {quantity(len(details), 'number')} of {done.profile}:"
    return Result.message(text, data, details)


# `recollect profile`: built-in profiles and the user's own

_SIGNS = {"times": "× ", "plus": "+ "}
_TOML_COMMENT = "# Append this profile to the settings file, and give the profile a new name.\n"


class _Part(NamedTuple):
    """One search or one step of a profile."""

    where: str
    """`retrieve` or `steps`."""
    name: str
    """`meaning`, `rrf`, `× salience`, `+ importance`, `keep limbic_score`."""
    numbers: Mapping[str, Any]
    about: str


@command(
    "profile",
    "recollect profile",
    "recollect profile limbic",
    "recollect profile recollect limbic   # what differs",
    "recollect profile limbic --toml   # to begin one of your own",
    "recollect profile --json | jq -r '.profiles[].name'",
)
@click.argument("names", metavar="[NAME [OTHER]]", nargs=-1, shell_complete=complete_profile)
@option("--toml", "Print it as TOML for the settings file.", to="as_toml")
def profile_command(call: Call, names: tuple[str, ...], as_toml: bool) -> Result:
    """List, show and compare ranking profiles.

    A profile names the searches to run and the steps that score the hits. `recollect recall --profile NAME`
    uses it. Your own profiles are [[profiles]] tables in the settings file; start from what --toml prints.

    Without NAME, it lists the profiles. With one name, it shows that profile's searches and steps, with
    published and tuned numbers. With two names, it shows the differences.
    """
    from recollect.ranking.candidates import profile_named  # loads NumPy
    from recollect.ranking.profiles import to_plain, to_toml

    known = all_profiles(call)
    found = [profile_named(name, known) for name in names[:2]]
    match found:
        case _ if len(names) > 2:
            raise click.UsageError("Give at most two profiles.")
        case [profile] if as_toml:
            text = to_toml(profile)
            return Result({"toml": text}, [Verbatim(f"{_TOML_COMMENT}{text}")])
        case [profile]:
            numbers = (
                call.memory().tuning.numbers(profile.name) if call.settings()[0].store.exists() else None
            )
            tuned = numbers if numbers is not None and numbers.version else None
            also = {} if tuned is None else {"tuned": fields_of(tuned)}
            return Result({**to_plain(profile), **also}, _profile_view(profile, tuned))
        case [first, second]:
            return _profile_diff(first, second)
    own = {each.name for each in call.settings()[0].profiles}
    profiles, rows = [], []
    for each in known.values():
        is_default, is_own = each.name == DEFAULT_PROFILE, each.name in own
        profiles.append({"name": each.name, "about": each.about, "default": is_default, "own": is_own})
        marks = [word for word, holds in (("default", is_default), ("yours", is_own)) if holds]
        rows.append((each.name, ", ".join(marks), each.about))
    data = {"default": DEFAULT_PROFILE, "profiles": profiles}
    columns = ("Profile", "", "Description")
    return Result.table(data, columns, rows, "To show one: recollect profile NAME")


def _profile_diff(one: Profile, other: Profile) -> Result:
    """Return the differences, with the numbers of each profile, or `absent`.

    A moved step is listed twice: as absent at its old place, and as new at its new place.
    """
    from difflib import SequenceMatcher  # only this command needs it

    found: list[tuple[Any, ...]] = []
    parts, others = _profile_parts(one), _profile_parts(other)
    names, other_names = ([part[:2] for part in each] for each in (parts, others))
    matcher = SequenceMatcher(None, names, other_names, autojunk=False)
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        here, there = parts[start:end], others[other_start:other_end]
        if tag != "equal":
            found += [(part.where, part.name, part.numbers, None) for part in here]
            found += [(part.where, part.name, None, part.numbers) for part in there]
            continue
        for part, its in zip(here, there, strict=True):
            differ = [name for name in part.numbers if part.numbers[name] != its.numbers[name]]
            if differ:
                sides = ({name: each.numbers[name] for name in differ} for each in (part, its))
                found.append((part.where, part.name, *sides))
    differences = [dict(zip(("where", "name", "first", "second"), each, strict=True)) for each in found]
    data = {"first": one.name, "second": other.name, "differences": differences}
    if not found:
        return Result(data, [titled(f"{one.name} and {other.name} are the same.", "good")])
    columns = ("", "", Column(one.name, fill=True), Column(other.name, fill=True))
    rows = [
        (where, name, *("absent" if side is None else _numbers_text(side) for side in sides))
        for where, name, *sides in found
    ]
    return Result(data, [Table(columns, rows)])


def _profile_view(profile: Profile, tuned: ProfileNumbers | None) -> Iterator[Block]:
    parts = _profile_parts(profile)
    yield Paragraph((Styled(profile.name, "entity"), f"  {profile.about}"))
    for title, where in (("Searches", "retrieve"), ("Steps", "steps")):
        rows = []
        for part in parts:
            if part.where == where:
                about = stacked(_numbers_text(part.numbers), Styled(part.about, "muted"))
                rows.append((part.name, about))
        columns = (Column(role="name", wrap="whole"), Column())
        yield titled(f"\n{title}")
        yield Table(columns, rows, grid=True)
    if tuned is not None:
        yield titled(f"\nTuned, version {tuned.version}")
        changed = [
            (name, f"{value:.6g}", f"{tuned.published[name]:.6g}") for name, value in tuned.tuned.items()
        ]
        if changed:
            yield Table(("Number", Column("now", right=True), Column("published")), changed)
        else:
            yield titled("as published", "muted")
        if tuned.note:
            yield titled(tuned.note, "changed")


def _profile_parts(profile: Profile) -> list[_Part]:
    """Return the searches and the steps of a profile, in order."""
    from recollect.ranking.candidates import RETRIEVERS  # loads NumPy
    from recollect.ranking.profiles import to_plain
    from recollect.ranking.steps import STEPS

    plain = to_plain(profile)
    searches = [_profile_part("retrieve", "by", item, RETRIEVERS) for item in plain["retrieve"]]
    return [*searches, *(_profile_part("steps", "step", item, STEPS) for item in plain["steps"])]


def _numbers_text(numbers: Mapping[str, Any]) -> str:
    """Return a text such as `k 60` or `beta_sal 0.5, d_max 15, off`.

    Switches that are off are left out. If nothing else remains, they are shown as `no NAME`.
    """
    texts = []
    for name, value in numbers.items():
        if isinstance(value, bool):
            texts += [name] if value and name != "on" else ["off"] if not value and name == "on" else []
        elif value is not None:
            texts.append(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}")
    no = [f"no {name}" for name, value in numbers.items() if value is False]
    return ", ".join(texts or no)


def _profile_part(where: str, key: str, item: Mapping[str, Any], known: Mapping[str, type]) -> _Part:
    from recollect.ranking.factors import FACTORS  # loads NumPy

    name = item[key]
    numbers = {field_: value for field_, value in item.items() if field_ != key}
    kind = known[name]
    factor = next((value for value in numbers.values() if isinstance(value, dict)), None)
    if factor is not None:
        own = {field_: value for field_, value in numbers.items() if value is not factor}
        numbers = {field_: value for field_, value in factor.items() if field_ != "factor"} | own
        if name in _SIGNS:
            kind = FACTORS[factor["factor"]]
            name = f"{_SIGNS[name]}{factor['factor']}"
    elif name == "keep":
        name = f"keep {numbers.pop('name')}"
    return _Part(where, name, numbers, (kind.__doc__ or "").partition("\n")[0])


# `recollect eval`, and `recollect bench`, which another package provides

_MISSES_SHOWN = 3
"""Number of missed memories to name for each cause."""
_MISS_WIDTH = 52
_QUESTION_KINDS = {
    "phrase": "a phrase from the memory",
    "gaps": "a sentence without its rarest words",
    "entity": "a name and an observation",
    "what is": "a name alone",
    "relation": "a relation of an entity",
    "mention": "a text about an entity",
    "day": "an event on a day",
    "said": "a message on a day",
}


@command(
    "self",
    "recollect eval self",
    "recollect eval self --sample 0 --profile recollect --profile limbic",
    "recollect eval self --json | jq '.missed[].id'",
)
@option("--sample N", "Number of memories to test; 0: all.", type=click.IntRange(0), default=200)
@option(
    "-p --profile NAME...",
    "Profile (default: all); repeatable.",
    to="profiles",
    shell_complete=complete_profile,
)
@option("-n --limit", type=click.IntRange(1, 1000), default=5)
@option("--seed", type=int, default=0)
def eval_self_command(call: Call, sample: int, profiles: tuple[str, ...], limit: int, seed: int) -> Result:
    """Ask questions about stored memories, and count how many are found.

    Rules make questions from the words, names and days of memories, so the right answers are known. For
    each profile, the report shows the share found, with a 95 % interval, and the time of an answer. It lists
    missed memories with the reason, and says what to do. It uses no language model, and records nothing.
    """
    from recollect.models.registry import packaged_model  # loads the models' descriptions

    memory = call.memory()
    model = None if memory.model is None else packaged_model(memory.model.name.partition("@")[0])
    languages = None if model is None else model.languages
    with progress("Asking") as (asking,):
        result = memory.self_test(
            profiles=profiles, sample=sample, limit=limit, seed=seed, languages=languages, progress=asking
        )
    profiles_data = {}
    for each in result.profiles:
        by_kind = {asks: {**fields_of(share), "recall": share.recall} for asks, share in each.by_kind.items()}
        overall = {**fields_of(each.overall), "recall": each.overall.recall}
        profiles_data[each.name] = {"overall": overall, "by_kind": by_kind}
    # Latency differs from run to run, so it has a key of its own.
    data = {
        **fields_of(result),
        "causes": result.causes,
        "profiles": profiles_data,
        "compared": [{**fields_of(each), "is_better": each.is_better} for each in result.compared],
    }
    if not result.questions:
        remedy = "`recollect remember`, `recollect add` or `recollect import` stores something."
        return Result.message("This memory is empty, so there is nothing to ask.", data, [remedy], "note")
    return Result(data, _self_test_view(result))


@group("eval", (eval_self_command,), "recollect eval self")
def eval_command(_: Call) -> None:
    """Test how well searches find what is stored."""


def _self_test_view(result: SelfTest) -> Iterator[Block]:
    asked = quantity(sum(result.questions.values()), "question")
    of = f"{result.sampled:,} of {memories_text(result.memories)}"
    counts = "the first hit counts" if result.limit == 1 else f"the first {result.limit:,} hits count"
    yield titled(f"{asked} about {of}; {counts}; {result.model or 'no model'}")
    compared = {each.name: each for each in result.compared}
    rows = []
    for each in result.profiles:
        other, share, latency = compared.get(each.name), each.overall, result.latency[each.name]
        rows.append(
            (
                *(each.name, f"{share.recall:.1%}", f"{share.low:.0%}–{share.high:.0%}", f"{share.mrr:.3f}"),
                "" if other is None else f"+{other.better} −{other.worse}",
                "" if other is None else f"{other.p:.2g}",
                *(f"{latency.p50_ms:.0f}", f"{latency.p95_ms:.0f}"),
            )
        )
    numbers = (f"Found in {result.limit}", "95 %", "MRR", "vs default", "p", "median ms", "p95 ms")
    yield Table(("Profile", *right_aligned(*numbers)), rows)
    kinds = [
        (str(asks), f"{count:,}", *(_percent(each.by_kind[asks]) for each in result.profiles))
        for asks, count in result.questions.items()
    ]
    names = (each.name for each in result.profiles)
    yield Table(("Found, in %", *right_aligned("Asked", *names)), kinds)
    if result.missed:
        yield _missed_table(result)
    if result.advice:
        advice = [
            (str(place), f"{each.said}\n{each.command}" if each.command else each.said)
            for place, each in enumerate(result.advice, start=1)
        ]
        yield Table(("", "What to do"), advice)
    more = any(count > _MISSES_SHOWN for count in result.causes.values())
    yield from muted(
        "Kinds of question: "
        + "; ".join(f"{asks}: {_QUESTION_KINDS[asks]}" for asks in result.questions)
        + ".",
        "" if result.missed else "Every memory was found.",
        result.note or "",
        "All missed memories: recollect eval self --json" if more else "",
    )


def _percent(share: FoundShare) -> str:
    """Return the share and its interval: `93 88–96`. For 0 or 100 %, give one bound: `100 ≥87`."""
    low, high = f"{100 * share.low:.0f}", f"{100 * share.high:.0f}"
    if share.found in {0, share.asked}:
        return f"100 ≥{low}" if share.found else f"0 ≤{high}"
    return f"{100 * share.recall:.0f} {low}–{high}"


def _missed_table(result: SelfTest) -> Table:
    rows = []
    for cause, count in result.causes.items():
        misses = [miss for miss in result.missed if miss.cause is cause][:_MISSES_SHOWN]
        lines = []
        for miss in misses:
            first = "nothing" if miss.first is None else f"#{miss.first} {miss.first_text}"
            texts = (f"#{miss.id} {miss.text}", f"asked: {miss.query}", f"first: {first}")
            lines += [*(ellipsize(one_line(text), _MISS_WIDTH) for text in texts), f"→ {miss.why}"]
        if count > len(misses):
            lines.append(f"and {count - len(misses):,} more")
        rows.append((str(cause), f"{count:,}", "\n".join(lines)))
    return Table(("Why not found", *right_aligned(""), f"With {result.default}"), rows)


bench_command: ExtraCommand = ExtraCommand(
    "bench", "Measure the profiles on judged questions.", extra="bench", hidden=True
)
