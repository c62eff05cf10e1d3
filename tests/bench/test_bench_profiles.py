"""Which profiles are measured, and what is left out of ours one part at a time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from recollect.domain.errors import InvalidInput
from recollect.ranking.candidates import ByMeaning, ByWords, Profile
from recollect.ranking.factors import Importance, StatusWeight
from recollect.ranking.profiles import LIMBIC, PROFILES, RECOLLECT, to_plain
from recollect.ranking.steps import Blend, Cut, DropRepeats, Order, Plus, Times
from recollect_bench.profiles import ablations, select_profiles

if TYPE_CHECKING:
    from pathlib import Path

_SMALL = Profile(
    "small",
    "",
    (ByMeaning(then=True), ByWords("stemmed", then=True)),
    (Blend(), Times(StatusWeight()), Plus(Importance(), 0.1, on=False), DropRepeats(), Order(), Cut()),
)


def test_without_names_the_built_in_and_the_plain_ones_are_measured() -> None:
    assert [each.name for each in select_profiles([], "rrf")] == [*PROFILES, "bm25", "vectors", "rrf"]


def test_the_baseline_joins_those_that_are_named() -> None:
    assert [each.name for each in select_profiles(["limbic"], "bm25")] == ["limbic", "bm25"]
    assert [each.name for each in select_profiles(["bm25", "limbic", "bm25"], "bm25")] == ["bm25", "limbic"]


def test_a_users_own_profile_and_files_of_profiles_are_measured(tmp_path: Path) -> None:
    own = replace(LIMBIC, name="mine")
    file = tmp_path / "small.json"
    file.write_text(json.dumps(to_plain(_SMALL)))
    many = tmp_path / "many.toml"
    many.write_text('[[profiles]]\nname = "words"\nretrieve = [{ by = "words" }]\nsteps = [{ step = "rrf" }, '
                    '{ step = "order" }, { step = "cut" }]\n')  # fmt: skip
    found = select_profiles(["mine", str(file), str(many)], "rrf", [own])
    assert [each.name for each in found] == ["mine", "small", "words", "rrf"]
    assert found[1] == _SMALL


def test_what_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"No profile named 'mood'; there are: .*bm25, vectors, rrf"):
        select_profiles(["mood"], "rrf")
    with pytest.raises(InvalidInput, match=r"absent\.json cannot be read"):
        select_profiles([str(tmp_path / "absent.json")], "rrf")
    other = tmp_path / "limbic.json"
    other.write_text(json.dumps(to_plain(replace(_SMALL, name="limbic"))))
    with pytest.raises(InvalidInput, match="several profiles named 'limbic'"):
        select_profiles(["limbic", str(other)], "rrf")


def test_each_part_is_left_out_once() -> None:
    # Blend makes the first scores; order and cut make the list; what is switched off is no part.
    meaning, words = _SMALL.retrieve
    blend, status, importance, repeats, order, cut = _SMALL.steps
    assert {each.name: (each.retrieve, each.steps) for each in ablations(_SMALL)} == {
        "small − meaning": ((words,), _SMALL.steps),
        "small − words": ((meaning,), _SMALL.steps),
        "small − then of searches": ((ByMeaning(then=False), ByWords("stemmed", then=False)), _SMALL.steps),
        "small − times status": (_SMALL.retrieve, (blend, importance, repeats, order, cut)),
        "small − drop_repeats": (_SMALL.retrieve, (blend, status, importance, order, cut)),
    }


def test_two_parts_of_one_name_are_told_apart() -> None:
    once_more = Times(StatusWeight(paused=0.5))
    twice = replace(_SMALL, steps=(Blend(), Times(StatusWeight()), once_more, Order(), Cut()))
    names = [each.name for each in ablations(twice)]
    assert "small − times status" in names
    assert "small − times status 2" in names


def test_every_variant_of_ours_differs_from_it_and_from_each_other() -> None:
    made = ablations(RECOLLECT)
    assert len({(each.retrieve, each.steps) for each in (RECOLLECT, *made)}) == len(made) + 1
    assert len({each.name for each in made}) == len(made)
