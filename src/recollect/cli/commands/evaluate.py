"""Commands that measure: eval, and bench, which another package brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import Call, Command, Group, command, group
from recollect.cli.options import complete_profile, limit_option
from recollect.cli.progress import progress
from recollect.cli.rendering import Block, Result, Table, fields_of, muted, picked, right_aligned, titled
from recollect.errors import RecollectError
from recollect.text.phrases import ellipsize, memories_text, quantity
from recollect.text.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.engine.self_test.results import FoundShare, MissedMemory, SelfTest

_MOST_SHOWN = 3
"""Misses of each cause."""
_WIDTH = 52
_MEANS = {
    "phrase": "some of its words in a row",
    "gaps": "a sentence of it without the rarest words",
    "entity": "a name and what is known of it",
    "what is": "a name alone",
    "relation": "what an entity is related to",
    "mention": "what was said about an entity",
    "day": "what happened on a day",
    "said": "what somebody said on a day",
}


@command(
    "self",
    "recollect eval self",
    "recollect eval self --sample 0 --profile recollect --profile limbic",
    "recollect eval self --json | jq '.missed[].id'",
)
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=200,
    show_default=True,
    metavar="N",
    help="Memories to ask for, of each kind some; 0: all.",
)
@click.option(
    "-p",
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_profile,
    help="Only these; repeatable. Without it, all.",
)
@limit_option(5, "Hits that count.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another one asks for other memories.")
def eval_self_command(call: Call, sample: int, profiles: tuple[str, ...], limit: int, seed: int) -> Result:
    """Ask for memories by their own words, names and days.

    Questions are made by rule out of what is stored, so that the right answers are known. It shows how many
    of them each profile answers among the first hits, with a 95 % interval; how long an answer takes; which
    memories cannot be found by their own words, and why; and what to do about it. No language model is
    asked, nothing leaves this machine, and nothing is recorded in the memory.

    In a pipe, each line begins with what it is: `profile`, `kind`, `missed` (by cause), `advice`.
    """
    from recollect.models.registry import packaged_model  # loads the models' descriptions

    memory = call.memory()
    model = None if memory.model is None else packaged_model(memory.model.name.partition("@")[0])
    languages = None if model is None else model.languages
    with progress("Asking") as (asking,):
        result = memory.self_test(
            profiles=profiles, sample=sample, limit=limit, seed=seed, languages=languages, progress=asking
        )
    data = _self_test_data(result)
    if not result.questions:
        remedy = "recollect remember, recollect add or recollect import brings something in."
        return Result.message("This memory is empty, so there is nothing to ask for.", data, [remedy], "note")
    return Result(data, _self_test_view(result))


@group("eval", (eval_self_command,), "recollect eval self")
def eval_command(_: Call) -> None:
    """Test how well this memory is found."""


def _self_test_data(result: SelfTest) -> dict[str, Any]:
    """Latency, which no two runs share, is under a key of its own."""
    first = ("seed", "at", "limit", "model", "note", "memories", "sampled", "questions", "default")
    profiles = {}
    for each in result.profiles:
        by_kind = {asks: {**fields_of(share), "recall": share.recall} for asks, share in each.by_kind.items()}
        overall = {**fields_of(each.overall), "recall": each.overall.recall}
        profiles[each.name] = {"overall": overall, "by_kind": by_kind}
    return {
        **picked(result, *first),
        "profiles": profiles,
        "compared": [{**fields_of(each), "is_better": each.is_better} for each in result.compared],
        **picked(result, "causes", "missed", "advice", "latency"),
    }


def _self_test_view(result: SelfTest) -> Iterator[Block]:
    asked = quantity(sum(result.questions.values()), "question")
    of = f"{result.sampled:,} of {memories_text(result.memories)}"
    counts = "the first hit counts" if result.limit == 1 else f"the first {result.limit:,} hits count"
    yield titled(f"{asked} made of {of}; {counts}; {result.model or 'no model'}")
    yield _profiles_table(result)
    yield _kinds_table(result)
    if result.missed:
        yield _missed_table(result)
    if result.advice:
        rows = [
            (str(place), f"{each.said}\n{each.command}" if each.command else each.said)
            for place, each in enumerate(result.advice, start=1)
        ]
        yield Table(("", "What to do"), rows, "advice")
    yield from muted(
        "; ".join(f"{asks}: {_MEANS[asks]}" for asks in result.questions) + ".",
        "" if result.missed else "Every memory that was asked for was found by its own words.",
        result.note or "",
        "All that were not found: recollect eval self --json"
        if any(count > _MOST_SHOWN for count in result.causes.values())
        else "",
    )


def _profiles_table(result: SelfTest) -> Table:
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
    numbers = (f"Found in {result.limit}", "95 %", "MRR", "vs default", "p", "ms", "p95")
    return Table(("Profile", *right_aligned(*numbers)), rows, "profile")


def _kinds_table(result: SelfTest) -> Table:
    """A column for each profile."""
    rows = [
        (str(asks), f"{count:,}", *(_percent(each.by_kind[asks]) for each in result.profiles))
        for asks, count in result.questions.items()
    ]
    names = (each.name for each in result.profiles)
    return Table(("In %", *right_aligned("Asked", *names)), rows, "kind")


def _percent(share: FoundShare) -> str:
    """`93 88–96`; of all or none, only the end that is open: `100 ≥87`."""
    low, high = f"{100 * share.low:.0f}", f"{100 * share.high:.0f}"
    if share.found in {0, share.asked}:
        return f"100 ≥{low}" if share.found else f"0 ≤{high}"
    return f"{100 * share.recall:.0f} {low}–{high}"


def _missed_table(result: SelfTest) -> Table:
    rows = []
    for cause, count in result.causes.items():
        misses = [miss for miss in result.missed if miss.cause is cause][:_MOST_SHOWN]
        more = [f"and {count - len(misses):,} more"] if count > len(misses) else []
        rows.append((str(cause), f"{count:,}", "\n".join([*map(_miss, misses), *more])))
    return Table(("Not found, why", *right_aligned(""), f"By {result.default}"), rows, "missed")


def _miss(miss: MissedMemory) -> str:
    first = "nothing" if miss.first is None else f"#{miss.first} {miss.first_text}"
    lines = (f"#{miss.id} {miss.text}", f"asked: {miss.query}", f"first: {first}")
    return "\n".join([*(ellipsize(one_line(line), _WIDTH) for line in lines), f"→ {miss.why}"])


ENTRY_POINTS = "recollect.commands"
"""Packages register commands under this group; the name is the command's."""


class ExtraCommand(Command):
    """A command of another package. Its help line is fixed here, so that `recollect --help` loads nothing."""

    def __init__(self, name: str, help_: str, extra: str) -> None:
        super().__init__(name, help=help_)
        self.extra = extra

    def load(self) -> Command | Group:
        from importlib.metadata import entry_points  # takes milliseconds

        for entry in entry_points(group=ENTRY_POINTS, name=str(self.name)):
            loaded: Command | Group = entry.load()
            return loaded
        raise RecollectError(
            f"`recollect {self.name}` is not installed; run: pip install 'recollect-memory[{self.extra}]'"
        )

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The loaded command's context: with it, click parses, helps and runs that command."""
        return self.load().make_context(info_name, args, parent, **extra)


bench_command = ExtraCommand("bench", "Measure the profiles on judged questions.", extra="bench")
