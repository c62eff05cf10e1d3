"""Laws of ranking that hold for every profile and any set of candidates."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries
from random_profiles import profiles
from worlds import (
    DAYS,
    Moment,
    Row,
    gathered,
    kept_scores,
    moment,
    pair_maps,
    row_lists,
    stepped,
    worked_out,
    worlds,
)

from recollect.ranking.candidates import (
    EVERY_GROUP,
    NEVER,
    Cooccurrences,
    Reason,
    reasons,
    recompute_score,
    register_as,
    run,
)
from recollect.ranking.factors import FACTORS
from recollect.ranking.profiles import LIMBIC, PROFILES, groups_read
from recollect.ranking.routing import Route

if TYPE_CHECKING:
    from recollect.ranking.candidates import Candidates, Profile
    from recollect.ranking.factors import Factor

any_profile = st.sampled_from(list(PROFILES.values())) | profiles()
every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
UNROUTED = tuple(replace(step, on=False) if isinstance(step, Route) else step for step in LIMBIC.steps)


def ids_and_scores(ranked: Candidates) -> list[tuple[int, float]]:
    return list(zip(ranked.ids.tolist(), ranked.score.tolist(), strict=True))


@given(profile=any_profile, world=worlds(), data=st.data())
def test_arrival_order_does_not_matter(
    profile: Profile, world: tuple[list[Row], Moment], data: st.DataObject
) -> None:
    rows, when = world
    order = data.draw(st.permutations(range(len(rows))))
    shuffled = gathered(rows, when).at(np.array(order, np.int64))
    assert ids_and_scores(run(profile, shuffled, when)) == ids_and_scores(
        run(profile, gathered(rows, when), when)
    )


@given(profile=any_profile, world=worlds())
def test_the_list_is_best_first_ties_by_id_and_cut_to_the_limit(
    profile: Profile, world: tuple[list[Row], Moment]
) -> None:
    rows, when = world
    done = run(profile, gathered(rows, when), when)
    ranked = ids_and_scores(done)
    assert ranked == sorted(ranked, key=lambda pair: (-pair[1], pair[0]))
    whole = run(profile, gathered(rows, when), replace(when, limit=10_000))
    assert len(ranked) == min(when.limit, len(whole))
    # Every candidate is returned, or dropped with a reason.
    gone = [dropped.id for dropped in done.dropped]
    assert sorted([*done.ids.tolist(), *gone]) == sorted(row.id for row in rows)
    assert all(dropped.reason and dropped.step for dropped in done.dropped)


@given(profile=any_profile, world=worlds())
def test_a_smaller_limit_gives_the_beginning_of_the_same_list(
    profile: Profile, world: tuple[list[Row], Moment]
) -> None:
    rows, when = world
    when = replace(when, limit_given=False)  # a given limit is part of the question
    whole = ids_and_scores(run(profile, gathered(rows, when), replace(when, limit=1_000)))
    for limit in (0, 1, 3):
        assert ids_and_scores(run(profile, gathered(rows, when), replace(when, limit=limit))) == whole[:limit]


@given(profile=any_profile, world=worlds())
def test_no_score_or_mark_is_ever_nan_or_infinite(profile: Profile, world: tuple[list[Row], Moment]) -> None:
    rows, when = world
    ranked = run(profile, gathered(rows, when), when)
    assert np.isfinite(ranked.score).all()
    assert all(np.isfinite(values).all() for values in ranked.named_values.values())
    for mark in ranked.score_changes:
        assert np.isfinite(mark.values).all(), mark.step
        assert all(np.isfinite(number).all() for number in mark.numbers), mark.step
    assert all(np.isfinite(dropped.score) for dropped in ranked.dropped)


@given(factor=st.sampled_from([kind() for kind in FACTORS.values()]), world=worlds())
def test_every_factor_gives_each_candidate_a_number_from_0_up(
    factor: Factor, world: tuple[list[Row], Moment]
) -> None:
    rows, when = world
    values = factor(gathered(rows, when), when)
    assert values.shape == (len(rows),)
    assert np.isfinite(values).all()
    assert (values >= 0).all()


@given(profile=any_profile, world=worlds())
def test_facts_that_no_step_says_it_reads_move_nothing(
    profile: Profile, world: tuple[list[Row], Moment]
) -> None:
    rows, when = world
    whole = gathered(rows, when)
    zeros = np.zeros(len(whole), np.int64)
    blank: dict[str, dict[str, Any]] = {
        "usage": {"last_access": zeros + NEVER, "access_count": zeros, "access_days": zeros},
        "degree": {"degree": zeros},
        "metadata": {"metadata_share": np.zeros(len(whole))},
        "cooccurrence": {},
    }
    read = groups_read(profile)
    unread = [column for group in EVERY_GROUP - read for column in blank[group].items()]
    part = replace(whole, facts=replace(whole.facts, **dict(unread)))
    if "cooccurrence" not in read:
        part = replace(part, cooccurrences=Cooccurrences.none())
    assert ids_and_scores(run(profile, part, when)) == ids_and_scores(run(profile, whole, when))


def test_a_step_or_factor_cannot_leave_out_which_facts_it_reads() -> None:
    with pytest.raises(TypeError, match="reads"):
        register_as({}, "forgetful")  # type: ignore[call-arg]  # what a developer may forget


@every_profile
def test_nothing_gives_nothing_one_is_returned_and_ties_are_in_the_order_of_their_ids(
    profile: Profile,
) -> None:
    ranked = run(profile, gathered([]), moment(span=(timedelta(days=2), timedelta())))
    assert (len(ranked), ranked.dropped) == (0, ())
    for row in (Row(1, 0.5), Row(1, bm25=2.0), Row(1, 0.5, 2.0)):
        assert run(profile, gathered([row]), moment([row])).ids.tolist() == [1]
    # all share one rank in both searches, as if the searches could not tell them apart
    rows = [Row(id_, 0.5, 2.0, meaning_rank=1, words_rank=1) for id_ in (9, 2, 7, 4)]
    ranked = run(profile, gathered(rows), moment(rows))
    assert ranked.ids.tolist() == [2, 4, 7, 9]
    assert len(set(ranked.score.tolist())) == 1


@given(profile=any_profile, world=worlds())
def test_the_reasons_recombine_to_the_score_exactly(
    profile: Profile, world: tuple[list[Row], Moment]
) -> None:
    rows, when = world
    ranked = run(profile, gathered(rows, when), when)
    for told, score in zip(reasons(ranked), ranked.score.tolist(), strict=True):
        assert recompute_score(told) == score
        assert told[-1].score == score
        text = json.dumps([asdict(reason) for reason in told], allow_nan=False)
        assert recompute_score(Reason(**reason) for reason in json.loads(text)) == score


@given(world=worlds())
def test_by_hand_the_reasons_of_a_limbic_score_multiply_and_mix(world: tuple[list[Row], Moment]) -> None:
    """The meaning of each effect, written out once more in plain arithmetic."""
    rows, when = world
    ranked = run(LIMBIC, gathered(rows, when), when)
    for told, score in zip(reasons(ranked), ranked.score.tolist(), strict=True):
        assert worked_out(told) == score
        assert all(worked_out(told[: place + 1]) == each.score for place, each in enumerate(told))
        assert {each.effect for each in told} <= {"plus", "times", "set", "rescale", "mix"}


@given(rows=row_lists(min_size=1), data=st.data())
def test_more_accesses_never_lower_a_memorys_own_limbic_score_or_score(
    rows: list[Row], data: st.DataObject
) -> None:
    """Nor its place by limbic score. Its norm: the others' scores fall or stay, its own rises or stays."""
    pairs = data.draw(pair_maps(rows))
    at = data.draw(st.integers(0, len(rows) - 1))
    raised = [*rows]
    raised[at] = replace(rows[at], accesses=rows[at].accesses + data.draw(st.integers(1, 500)))
    id_ = rows[at].id
    before, after = (stepped(LIMBIC.steps, some, moment(some, pairs)) for some in (rows, raised))
    slack = 1 + 1e-12  # for rounding
    assert kept_scores(after, "limbic_score")[id_] * slack >= kept_scores(before, "limbic_score")[id_]
    assert dict(ids_and_scores(after))[id_] + 1e-12 >= dict(ids_and_scores(before))[id_]
    for other in (row.id for row in rows if row.id != id_):
        assert kept_scores(after, "limbic_score")[other] <= kept_scores(before, "limbic_score")[other] * slack
    before, after = (stepped(UNROUTED, some, moment(some, pairs)) for some in (rows, raised))
    assert after.ids.tolist().index(id_) <= before.ids.tolist().index(id_)


def test_more_accesses_may_still_cost_a_place_in_the_routed_list() -> None:
    """The law stops here: where the range of the scores shrinks, another may gain more by it."""
    # limbic scores, with 1 accessed once and then 127 times, and 3 at 0.4 in both:
    #   1: 0.7 * (1 + 0.5 * 1/3) * exp(-1.44) = 0.193     2: 0.6 * 1.5 = 0.9
    #   1: 0.7 * 1.5 * exp(-1.44) = 0.249                 2: 0.6 * (1 + 0.5 * 3/7) = 0.729
    # score of 1, the lowest, in both: 0.5 * 0.7 + 0.5 * 0 = 0.35
    # score of 3: 0.2 + 0.5 * 0.207 / 0.707 = 0.346, then 0.2 + 0.5 * 0.151 / 0.480 = 0.358
    others = [Row(2, 0.6, accesses=7), Row(3, 0.4)]
    found = []
    for accesses in (1, 127):
        rows = [Row(1, 0.7, accesses=accesses, seen=600 * DAYS), *others]
        found.append(ids_and_scores(stepped(LIMBIC.steps, rows, moment(rows))))
    assert [[id_ for id_, _ in ranked] for ranked in found] == [[2, 1, 3], [2, 3, 1]]
    assert [dict(ranked)[1] for ranked in found] == pytest.approx([0.35, 0.35])
    assert [dict(ranked)[3] for ranked in found] == pytest.approx([0.346, 0.358], abs=5e-4)


@given(world=worlds(min_size=2))
@settings(max_examples=tries(30))
def test_ranking_twice_is_ranking_once(world: tuple[list[Row], Moment]) -> None:
    rows, when = world
    candidates = gathered(rows, when)
    before = candidates.score.copy()
    first = ids_and_scores(run(LIMBIC, candidates, when))
    assert ids_and_scores(run(LIMBIC, candidates, when)) == first
    assert candidates.score.tolist() == before.tolist()
    assert candidates.score_changes == ()
