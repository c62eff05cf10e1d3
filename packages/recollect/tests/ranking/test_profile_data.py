"""Profiles as plain data: there and back, and mistakes named with what is allowed."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_profiles import values

from recollect.domain.errors import InvalidInput
from recollect.ranking.candidates import (
    RETRIEVERS,
    ByContext,
    ByLinks,
    ByMeaning,
    ByWords,
    Profile,
    profile_named,
)
from recollect.ranking.factors import FACTORS, factor_name
from recollect.ranking.profiles import DEFAULT, PROFILES, from_plain, to_plain
from recollect.ranking.routing import Route
from recollect.ranking.steps import STEPS, BaseRelevance, Cut, Keep, Order, Plus, Times

if TYPE_CHECKING:
    from recollect.ranking.candidates import Retriever, Step

every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)


@every_profile
def test_a_profile_reads_back_equal_from_json(profile: Profile) -> None:
    text = json.dumps(to_plain(profile), allow_nan=False)
    assert from_plain(json.loads(text)) == profile


END = [{"step": "order"}, {"step": "cut"}]
WIDE = st.floats(0.001, 1e6) | st.integers(1, 1_000)
STEP_VALUES = st.sampled_from(list(STEPS.values())).flatmap(lambda kind: values(kind, WIDE))


@given(
    retrieve=st.lists(st.sampled_from([ByMeaning, ByWords, ByContext]), min_size=1, unique=True).flatmap(
        lambda kinds: st.tuples(*(values(kind, WIDE) for kind in kinds))
    ),
    steps=st.lists(STEP_VALUES, max_size=6),
)
def test_any_profile_reads_back_equal_from_json(retrieve: tuple[Retriever, ...], steps: list[Step]) -> None:
    profile = Profile("mine", "", retrieve, (BaseRelevance(), *steps, Order(), Cut()))
    assert from_plain(json.loads(json.dumps(to_plain(profile)))) == profile


def test_what_is_not_given_is_as_published_and_whole_numbers_stand_for_numbers() -> None:
    profile = from_plain({"name": "a", "retrieve": [{"by": "meaning"}], "steps": [{"step": "rrf"}, *END]})
    assert (profile.about, profile.retrieve) == ("", (ByMeaning(),))
    assert list(profile.steps) == [STEPS["rrf"](), STEPS["order"](), STEPS["cut"]()]
    plain = {"name": "a", "retrieve": [{"by": "words", "times": 2}], "steps": [{"step": "rrf", "k": 5}, *END]}
    assert from_plain(plain).retrieve == (ByWords(times=2.0),)


def test_the_shortlist_has_the_name_that_cognis_published_and_still_reads_by_its_former_one() -> None:
    def read_profile(**numbers: int) -> Profile:
        searches = [{"by": "meaning", **numbers}]
        return from_plain({"name": "a", "retrieve": searches, "steps": END})

    named = read_profile(shortlist_size=400)
    assert named.retrieve == (ByMeaning(shortlist_size=400),)
    assert to_plain(named)["retrieve"][0]["shortlist_size"] == 400
    assert read_profile(shortlist=400) == named
    with pytest.raises(InvalidInput, match="shortlist_size is given twice: shortlist is its former name"):
        read_profile(shortlist=400, shortlist_size=300)


def test_every_step_and_factor_has_a_name_and_every_name_one_meaning() -> None:
    assert len(set(STEPS.values())) == len(STEPS)
    assert len(set(FACTORS.values())) == len(FACTORS)
    assert [factor_name(kind()) for kind in FACTORS.values()] == list(FACTORS)
    used = {type(step) for profile in PROFILES.values() for step in profile.steps}
    assert used <= set(STEPS.values())
    factors = {
        type(step.factor)
        for profile in PROFILES.values()
        for step in profile.steps
        if isinstance(step, Times | Plus)
    }
    assert factors <= set(FACTORS.values())


GOOD: dict[str, Any] = {
    "name": "mine",
    "about": "what I like",
    "retrieve": [{"by": "meaning", "times": 3.0}, {"by": "words", "index": "plain"}],
    "steps": [
        {"step": "rrf", "k": 60.0},
        {"step": "base_relevance"},
        {"step": "times", "factor": {"factor": "salience", "beta_sal": 0.5}, "on": True},
        {"step": "temporal_blend", "relevance": {"factor": "temporal"}},
        {"step": "keep", "name": "mine"},
        {"step": "route"},
        {"step": "order"},
        {"step": "cut"},
    ],
}


MISTAKES: list[tuple[tuple[Any, ...], Any, list[str]]] = [
    # path, wrong value, words of the message
    (("name",), "", ["needs a name"]),
    (("name",), 7, ["needs a name"]),
    (("about",), 7, ["'mine'", "about", "text", "7"]),
    (("mood",), 1, ["'mine'", "'mood'", "about, name, retrieve, steps"]),
    (("retrieve",), None, ["'retrieve'", "list"]),
    (("retrieve",), [], ["'retrieve'", "at least one"]),
    (("retrieve",), {"by": "meaning"}, ["'retrieve'", "list"]),
    (("retrieve", 0), "meaning", ["'by'", "meaning, words", "'meaning'"]),
    (("retrieve", 0), {"times": 3}, ["'by'", "meaning, words"]),
    (("retrieve", 0, "by"), "smell", ["'smell'", "meaning, words"]),
    (("retrieve", 0, "by"), ["meaning"], ["['meaning']", "meaning, words"]),
    (("retrieve", 0, "deep"), 3, ["'deep'", "least, shortlist_size, then, times"]),
    (("retrieve", 0, "least"), 1.5, ["least", "whole number", "1.5"]),
    (("retrieve", 0, "least"), -1, ["least", "0 or above", "-1"]),
    (("retrieve", 0, "shortlist_size"), 0, ["shortlist_size", "above 0"]),
    (("retrieve", 0, "shortlist"), 0, ["shortlist_size", "above 0"]),
    (("retrieve", 0, "shortlist_size"), "all", ["shortlist_size", "whole number, or left out", "'all'"]),
    (("retrieve", 1, "index"), "porter", ["index", "plain, stemmed", "'porter'"]),
    (("retrieve", 1, "index"), 1, ["index", "plain, stemmed"]),
    (("retrieve", 0), {"by": "words"}, ["'retrieve'", "'words'", "once"]),
    (("steps",), None, ["'steps'", "list"]),
    (("steps",), [], ["'steps'", "at least one"]),
    (("steps", 0), None, ["'step'", "rrf, weighted_rrf", "None"]),
    (("steps", 0, "step"), "rff", ["'rff'", "rrf, weighted_rrf, linear, blend"]),
    (("steps", 0, "step"), {}, ["{}", "rrf, weighted_rrf"]),
    (("steps", 0, "kay"), 60, ["'rrf'", "'kay'", "allowed fields: k"]),
    (("steps", 6, "limit"), 3, ["'order'", "'limit'", "allowed fields: none"]),
    (("steps", 0, "k"), "sixty", ["'rrf'", "k must be a number", "'sixty'"]),
    (("steps", 0, "k"), True, ["k must be a number", "True"]),
    (("steps", 0, "k"), None, ["k must be a number", "None"]),
    (("steps", 0, "k"), -1, ["k must be 0 or above", "-1"]),
    (("steps", 0, "k"), float("nan"), ["k must be", "nan"]),
    (("steps", 0, "k"), float("inf"), ["k must be", "inf"]),
    (("steps", 0, "k"), 10**400, ["k must be"]),
    (("steps", 0, "k"), {"factor": "strength"}, ["k must be a number"]),
    (("steps", 2, "on"), 1, ["on must be true or false", "1"]),
    (("steps", 2, "factor"), "salience", ["'factor'", "salience, forgetting", "'salience'"]),
    (("steps", 2, "factor", "factor"), "mood", ["'mood'", "salience, forgetting, cooccurrence"]),
    (
        ("steps", 2, "factor", "gamma"),
        1.0,
        ["'salience'", "'gamma'", "alpha_cons, beta_deg, beta_sal, d_max"],
    ),
    (("steps", 2, "factor", "beta_sal"), "half", ["beta_sal must be a number", "'half'"]),
    (("steps", 2, "factor", "d_max"), 0, ["d_max must be above 0"]),
    (("steps", 2), {"step": "times"}, ["'times'", "factor must be given"]),
    (("steps", 3, "relevance", "factor"), "strength", ["'strength'", "use one of: temporal"]),
    (("steps", 4), {"step": "keep"}, ["'keep'", "name must be given"]),
    (("steps", 4, "name"), 4, ["name must be text"]),
    (("steps", 1), {"step": "order"}, ["'route'", "'base_relevance' or keep 'base' before it"]),
]


def with_mistake(where: tuple[Any, ...], what: object) -> Any:
    plain: Any = deepcopy(GOOD)
    place = plain
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = what
    return plain


@pytest.mark.parametrize(("where", "what", "named"), MISTAKES, ids=lambda value: str(value)[:40])
def test_a_mistake_is_named_with_what_is_allowed(
    where: tuple[Any, ...], what: object, named: list[str]
) -> None:
    assert from_plain(GOOD).name == "mine"
    with pytest.raises(InvalidInput) as caught:
        from_plain(with_mistake(where, what))
    for part in named:
        assert part in str(caught.value)


def test_missing_parts_and_other_data_are_refused() -> None:
    with pytest.raises(InvalidInput, match="'plus', factor must be given"):
        from_plain({**GOOD, "steps": [{"step": "plus"}]})
    for missing in ("retrieve", "steps"):
        with pytest.raises(InvalidInput, match=f"'{missing}' must be a list"):
            from_plain({key: value for key, value in GOOD.items() if key != missing})
    nonsense: Any
    for nonsense in (None, [], "limbic", 3):
        with pytest.raises(InvalidInput, match="A profile is a table with name"):
            from_plain(nonsense)
    for ending in ([], END[:1], END[1:], END[::-1]):
        with pytest.raises(InvalidInput, match="the last two steps must be 'order' and 'cut'"):
            from_plain({**GOOD, "steps": [{"step": "rrf"}, *ending]})
    for within in (0, -1, 21):
        with pytest.raises(InvalidInput, match=f"within must be from 1 to 20, not {within}"):
            from_plain({**GOOD, "retrieve": [{"by": "context", "within": within}]})
    near = {**GOOD, "retrieve": [{"by": "context", "within": 20}]}
    assert from_plain(near).retrieve == (ByContext(within=20),)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.sampled_from([where for where, _, _ in MISTAKES]), JSON)
def test_any_data_is_read_or_refused_by_name_and_never_breaks(where: tuple[Any, ...], what: object) -> None:
    try:
        profile = from_plain(with_mistake(where, what))
    except InvalidInput:
        return
    assert from_plain(to_plain(profile)) == profile


def test_routing_may_also_rest_on_a_score_kept_as_base() -> None:
    steps = [{"step": "linear"}, {"step": "keep", "name": "base"}, {"step": "route"}, *END]
    assert from_plain({**GOOD, "steps": steps}).steps[1:3] == (Keep("base"), Route())


def test_profiles_are_found_by_name_and_the_own_one_is_the_default() -> None:
    assert DEFAULT == "recollect"
    assert list(PROFILES) == ["recollect", "limbic", "mnemosyne", "reverie", "cognis"]
    mine = from_plain(GOOD)
    assert profile_named("mine", {"mine": mine}) is mine
    assert profile_named("limbic", PROFILES) == PROFILES["limbic"]
    with pytest.raises(
        InvalidInput, match="No profile named 'limbo'; there are: recollect, limbic, mnemosyne"
    ):
        profile_named("limbo", PROFILES)


def test_the_page_on_ranking_knows_every_step_and_factor_and_its_profile_can_be_read() -> None:
    page = (Path(__file__).parents[4] / "docs" / "internals" / "ranking.md").read_text("utf-8")
    assert [name for name in STEPS if f"| `{name}` |" not in page] == []
    assert [name for name in FACTORS if f"### `{name}`" not in page] == []
    assert [name for name in PROFILES if f"`{name}`" not in page] == []
    block = page.split("```json\n")[1].split("```")[0]
    assert from_plain(json.loads(block)).name == "patient"


def test_each_retriever_has_its_own_name() -> None:
    expected = {"meaning": ByMeaning, "words": ByWords, "context": ByContext, "links": ByLinks}
    assert expected == RETRIEVERS


@every_profile
def test_a_profile_prints_and_hashes(profile: Profile) -> None:
    assert repr(profile).startswith(f"Profile(name='{profile.name}'")
    assert len({profile, profile}) == 1
