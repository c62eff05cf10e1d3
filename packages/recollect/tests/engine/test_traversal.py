"""Questions to the graph over several hops."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from recollect.domain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from conftest import FixedClock

    from recollect.domain.results import GraphPaths
    from recollect.engine import Engine

# Ada ── Bo ── Cy ── Di, and a short cut from Ada to Cy; Eve has no relation.
RELATIONS = [("Ada", "knows", "Bo"), ("Bo", "knows", "Cy"), ("Cy", "knows", "Di"), ("Cy", "trusts", "Ada")]


@pytest.fixture
def friends(engine: Engine) -> Engine:
    engine.create_entities(["Ada", "Bo", "Cy", "Di", "Eve"])
    engine.graph.create_relations(RELATIONS)
    return engine


def ways(found: GraphPaths) -> list[str]:
    return [
        ", ".join(f"{each.source_name} {each.type} {each.target_name}" for each in path)
        for path in found.paths
    ]


def test_neighbours_are_those_within_so_many_relations_the_nearest_first(friends: Engine) -> None:
    def near(depth: int) -> list[tuple[str, int]]:
        return [(one.name, away) for one, away in friends.graph.neighbours_of("Di", depth=depth).entities]

    assert near(1) == [("Cy", 1)]
    assert near(2) == [("Cy", 1), ("Ada", 2), ("Bo", 2)]
    assert near(6) == near(2)
    assert friends.graph.neighbours_of("Eve", depth=3).entities == ()


def test_neighbours_of_a_moment_are_those_known_and_in_force_then(friends: Engine, clock: FixedClock) -> None:
    def near(at: datetime | None) -> list[str]:
        return [one.name for one, _ in friends.graph.neighbours_of("Di", as_of=at).entities]

    known = clock.now
    clock.tick(864_000)
    friends.graph.create_relations(
        [{"from": "Eve", "to": "Di", "relationType": "hires", "since": known - timedelta(days=3)}]
    )
    friends.graph.delete_relations([("Cy", "knows", "Di")])
    learnt = clock.now
    clock.tick(864_000)
    assert near(None) == ["Eve"]
    assert near(learnt) == ["Eve"]
    # Cy's relation was in force then. Eve's was too, but it was stored later.
    assert near(known) == ["Cy"]
    assert near(known - timedelta(days=1)) == []


def test_paths_lead_either_way_the_shortest_first_and_pass_nobody_twice(
    friends: Engine, clock: FixedClock
) -> None:
    assert ways(friends.graph.paths("Ada", "Di")) == [
        "Cy trusts Ada, Cy knows Di",
        "Ada knows Bo, Bo knows Cy, Cy knows Di",
    ]
    assert ways(friends.graph.paths("Ada", "Di", depth=2)) == ["Cy trusts Ada, Cy knows Di"]
    assert ways(friends.graph.paths("Ada", "Di", depth=1)) == []
    assert ways(friends.graph.paths("Ada", "Eve")) == []
    one = friends.graph.paths("Ada", "Di", limit=1)
    assert (ways(one), one.is_cut) == (["Cy trusts Ada, Cy knows Di"], True)
    # Ended and forgotten relations are not followed.
    friends.graph.end_relation("Cy", "trusts", "Ada")
    clock.tick()
    assert ways(friends.graph.paths("Ada", "Di")) == ["Ada knows Bo, Bo knows Cy, Cy knows Di"]
    friends.graph.delete_entities(["Bo"])
    assert ways(friends.graph.paths("Ada", "Di")) == []


def test_a_crowded_graph_is_answered_with_so_many_and_says_so(engine: Engine) -> None:
    names = [f"Buoy {n}" for n in range(12)]
    engine.graph.create_relations([(a, "beside", b) for a, b in combinations(names, 2)], create_missing=True)
    found = engine.graph.paths("Buoy 0", "Buoy 11", depth=6, limit=5)
    assert [len(path) for path in found.paths] == [1, 2, 2, 2, 2]
    assert found.is_cut


def test_what_cannot_be_asked_is_refused(friends: Engine) -> None:
    with pytest.raises(NotFound, match="no entity named 'Zoe'"):
        friends.graph.paths("Ada", "Zoe")
    with pytest.raises(InvalidInput, match="name two entities"):
        friends.graph.paths("Ada", "ada")
    with pytest.raises(InvalidInput, match="The depth is 1 to 6"):
        friends.graph.neighbours_of("Ada", depth=7)
    with pytest.raises(InvalidInput, match="1 to 100 paths"):
        friends.graph.paths("Ada", "Bo", limit=101)
