"""Tunable parameters of profiles: names, setting them, and error messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.errors import InvalidInput
from recollect.ranking.candidates import ByMeaning, Profile
from recollect.ranking.factors import Cooccurrence, MetadataWeight
from recollect.ranking.profiles import COGNIS, LIMBIC, MNEMOSYNE, PROFILES, RECOLLECT
from recollect.ranking.steps import Cut, Linear, Order, Plus, Rrf, Times
from recollect.tuning.knobs import eased, full_names, knobs_of, with_knobs

TWICE = Profile(
    "twice", "", (ByMeaning(),), (Rrf(k=60), Linear(), Times(Cooccurrence()), Rrf(k=30), Order(), Cut())
)
every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)


def test_parameters_are_named_by_their_factor_or_step() -> None:
    limbic = knobs_of(LIMBIC)
    assert limbic["cooccurrence.gamma"] == 0.01
    assert limbic["salience.beta_sal"] == 0.5
    assert limbic["route.limbic_heavy"] == 0.3
    assert knobs_of(RECOLLECT)["linked.weight"] == 0.6
    assert knobs_of(MNEMOSYNE)["importance.weight"] == 0.2
    assert knobs_of(COGNIS)["temporal_blend.share"] == 0.4
    assert knobs_of(COGNIS)["temporal.unknown"] == 0.5


def test_a_repeated_parameter_name_gets_a_suffix() -> None:
    knobs = knobs_of(TWICE)
    assert knobs["rrf.k"] == 60
    assert knobs["rrf.k_2"] == 30
    changed = with_knobs(TWICE, {"rrf.k_2": 10})
    assert changed.steps[0] == Rrf(k=60)
    assert changed.steps[3] == Rrf(k=10)


def test_the_weight_of_a_sum_and_a_weight_inside_the_factor_are_two_parameters() -> None:
    both = Profile("both", "", (ByMeaning(),), (Plus(MetadataWeight(weight=0.7), weight=2.0), Order(), Cut()))
    assert sorted(knobs_of(both).values()) == [0.5, 0.7, 2.0]


@every_profile
def test_search_sizes_are_not_tunable(profile: Profile) -> None:
    assert not any(name.split(".")[1] in ("times", "least", "shortlist") for name in knobs_of(profile))


@every_profile
def test_setting_a_profiles_own_values_changes_nothing(profile: Profile) -> None:
    assert with_knobs(profile, knobs_of(profile)) == profile


@given(st.sampled_from(list(PROFILES.values())), st.data())
def test_setting_one_parameter_changes_no_other(profile: Profile, data: st.DataObject) -> None:
    before = knobs_of(profile)
    name = data.draw(st.sampled_from(sorted(before)))
    # 1 and 2 are valid values for every parameter.
    value = float(data.draw(st.integers(1, 2)))
    assert knobs_of(with_knobs(profile, {name: value})) == before | {name: value}


def test_an_unambiguous_short_name_is_enough() -> None:
    assert full_names(LIMBIC, {"GAMMA": 0.05, "Beta-Sal": 0.75}) == {
        "cooccurrence.gamma": 0.05,
        "salience.beta_sal": 0.75,
    }


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"lambda_hourly": 1}, r"could be forgetting.lambda_hourly or cooccurrence.lambda_hourly"),
        ({"mood": 1}, r"no number named 'mood' that can be tuned; there are: rrf.k, "),
        ({"gamma": 1, "GAMMA": 2}, "cooccurrence.gamma is given twice"),
        ({"gamma": float("nan")}, "gamma must be between"),
        ({"d_max": 0}, r"salience.d_max = 0 cannot be used: .*d_max must be above 0"),
        ({"gamma": "much"}, "cooccurrence.gamma must be a number, not 'much'"),
        ({"gamma": True}, "cooccurrence.gamma must be a number, not True"),
    ],
)
def test_invalid_parameters_are_refused_with_a_reason(given_: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        with_knobs(LIMBIC, given_)


def test_easing_moves_a_tenth_of_the_way() -> None:
    # 0.9 * 0.01 + 0.1 * 0.05 = 0.014     0.9 * 0.5 + 0.1 * 0.75 = 0.525
    moved = eased({"gamma": 0.01, "beta_sal": 0.5}, {"gamma": 0.05, "beta_sal": 0.75})
    assert moved == pytest.approx({"gamma": 0.014, "beta_sal": 0.525})


def test_easing_returns_only_the_given_parameters() -> None:
    assert eased({"gamma": 0.01, "beta_sal": 0.5}, {"gamma": 0.02}).keys() == {"gamma"}
