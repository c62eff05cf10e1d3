"""`search_semantic` answers in the form of MCP Memory v2, with the numbers of its formulas."""

from __future__ import annotations

import json
from dataclasses import replace
from math import exp, log2
from typing import TYPE_CHECKING, Any

import pytest
from semantic import search_semantic

from recollect.domain.changes import NewEntity, NewObservation, NewText, PutEntity, PutText
from recollect.domain.records import Kind, Scope
from recollect.engine import Engine
from recollect.models.hashing import HashingEmbedder
from recollect.ranking.candidates import Reason, recompute_score
from recollect.ranking.profiles import LIMBIC
from recollect.ranking.routing import strategy_for
from recollect.ranking.steps import Keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import FixedClock, MakeEngine

    from recollect.stores.port import Vectors
    from recollect.write.repository import Repository

# The published fields, and what we add.
PUBLISHED = {"name", "entityType", "observations", "distance", "limbic_score", "scoring", "routing_strategy"}
OURS = {"score", "mode"}
HOUR, DAY = 3600, 24 * 3600


def library(engine: Engine) -> None:
    engine.create_entities(
        [
            {"name": "FastMCP", "entityType": "Framework", "observations": ["a server framework in Python"]},
            {"name": "SQLite", "entityType": "Database", "observations": ["an embedded database", "FTS5"]},
            {"name": "Postgres", "entityType": "Database", "observations": ["a server database"]},
            {"name": "Notebook", "entityType": "Thing", "observations": ["paper"]},
            {"name": "Listing", "entityType": "Thing", "observations": [
                {"content": "server database files", "kind": "metadata"},
                {"content": "config", "kind": "metadata"},
                {"content": "by hand"},
            ]},
        ]
    )  # fmt: skip
    engine.graph.create_relations(
        [
            {"from": "FastMCP", "relationType": "uses", "to": "SQLite"},
            {"from": "FastMCP", "relationType": "uses", "to": "Notebook"},
            {"from": "Postgres", "relationType": "resembles", "to": "SQLite"},
        ]
    )
    engine.graph.set_status("Postgres", "paused")


def use(engine: Engine, clock: FixedClock) -> None:
    """Accesses of some days, alone and together."""
    for names, pause in (
        (["FastMCP"], HOUR),
        (["FastMCP", "SQLite"], DAY),
        (["SQLite", "FastMCP", "Postgres"], 3 * DAY),
        (["Postgres", "Listing"], HOUR),
        (["FastMCP", "SQLite"], 40 * DAY),
    ):
        engine.graph.open_nodes(names)
        clock.tick(pause)


def results(engine: Engine, query: str, limit: int | None = None, **options: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = search_semantic(engine, query, limit, record=False, **options)["results"]
    return found


# The form


def test_a_result_has_the_published_fields_and_names(engine: Engine, clock: FixedClock) -> None:
    library(engine)
    answer = search_semantic(engine, "server database", record=False)
    assert set(answer) == {"results"}
    for result in answer["results"]:
        assert set(result) == PUBLISHED | OURS | {"rrf_score"}
        assert set(result["scoring"]) == {"importance", "temporal_factor", "cooc_boost"}
        assert result["mode"] == "hybrid"
    sqlite = next(result for result in answer["results"] if result["name"] == "SQLite")
    assert (sqlite["entityType"], sqlite["observations"]) == ("Database", ["an embedded database", "FTS5"])
    json.dumps(answer, allow_nan=False)
    # Only observations in force are shown.
    clock.tick()
    engine.graph.add_observations({"SQLite": [{"content": "FTS6", "supersedes": "FTS5"}]})
    sqlite = next(result for result in results(engine, "embedded") if result["name"] == "SQLite")
    assert sqlite["observations"] == ["an embedded database", "FTS6"]


def test_without_a_word_in_common_the_mode_is_pure_and_there_is_no_rrf_score(make_engine: MakeEngine) -> None:
    class Synonyms(HashingEmbedder):
        def documents(self, texts: Sequence[str]) -> Vectors:
            return super().documents([text.replace("storage", "database") for text in texts])

    engine = make_engine(lambda _: Synonyms())
    library(engine)
    found = results(engine, "storage")
    assert {result["name"] for result in found} >= {"SQLite", "Postgres"}
    for result in found:
        assert set(result) == PUBLISHED | OURS
        assert result["mode"] == "meaning"
        # pure: the base is the cosine for all of them
        assert result["distance"] is not None


def test_what_words_alone_found_has_no_distance(engine: Engine, store: Repository, clock: FixedClock) -> None:
    library(engine)
    unread = NewEntity("Redis", "Database", (NewObservation("an in-memory server"),))
    store.apply([PutEntity(Scope(), unread)], at=clock())  # its vector is still to be made
    found = {result["name"]: result for result in results(engine, "server memory database")}
    assert found["Redis"]["distance"] is None
    assert found["Redis"]["mode"] == "hybrid"
    assert found["SQLite"]["distance"] is not None
    # By words alone: 0.2 + 0.6 * share of the fused score, from 0.2 to 0.8; no other factor here.
    fused = [result["rrf_score"] for result in found.values()]
    share = (found["Redis"]["rrf_score"] - min(fused)) / (max(fused) - min(fused))
    assert found["Redis"]["limbic_score"] == pytest.approx(0.2 + 0.6 * share)


def test_without_any_vector_words_still_answer_and_it_is_said_why(make_engine: MakeEngine) -> None:
    engine = make_engine(model="none")
    library(engine)
    answer = search_semantic(engine, "database", record=False)
    assert "doctor" in answer["note"]
    assert {result["name"] for result in answer["results"]} == {"SQLite", "Postgres", "Listing"}
    for result in answer["results"]:
        assert (result["mode"], result["distance"]) == ("words", None)
        assert "rrf_score" not in result
        # 0.2 to 0.8 by the fused score; Postgres is paused, and Listing is mostly metadata
        weight = {"Postgres": 0.85, "Listing": 0.7}.get(result["name"], 1.0)
        assert 0.2 <= round(result["limbic_score"] / weight, 12) <= 0.8


def test_only_entities_are_found_and_asking_for_nothing_gives_nothing(
    engine: Engine, store: Repository, clock: FixedClock
) -> None:
    library(engine)
    for query, limit in (("", None), ("  \n", None), ("database", 0)):
        assert search_semantic(engine, query, limit) == {"results": []}
    store.apply(
        [
            PutText(Scope(), NewText(Kind.NOTE, "server database")),
            PutText(Scope(), NewText(Kind.MESSAGE, "server database?", session="test")),
        ],
        at=clock(),
    )
    engine.reindex()
    assert {result["name"] for result in results(engine, "server database", 50)} == {
        "FastMCP", "SQLite", "Postgres", "Notebook", "Listing",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        ("qué es SQLite", None),
        ("what is a database", 3),
        ("explain the relation between server and database and all that belongs to it", 10),
        ("server database paper framework", None),
    ],
)
def test_the_list_is_in_the_order_of_the_score_which_is_the_routed_blend(
    engine: Engine, clock: FixedClock, query: str, limit: int | None
) -> None:
    library(engine)
    use(engine, clock)
    found = results(engine, query, 10 if limit is None else limit)
    whole = results(engine, query, limit)
    assert [result["score"] for result in whole] == sorted((r["score"] for r in whole), reverse=True)
    strategy = strategy_for(query, limit)
    assert {result["routing_strategy"] for result in whole} == {strategy.value}
    if len(found) == 5 and limit != 3:  # all candidates are on the list, so their range is known
        weight = {"cosine_heavy": 0.7, "hybrid_balanced": 0.5, "limbic_heavy": 0.3}[strategy.value]
        limbic = [result["limbic_score"] for result in whole]
        for result in whole:
            norm = (result["limbic_score"] - min(limbic)) / (max(limbic) - min(limbic))
            base = max(0.0, 1 - result["distance"])
            assert result["score"] == pytest.approx(weight * base + (1 - weight) * norm)


def test_the_explanation_is_there_when_asked_and_gives_the_score_again(
    engine: Engine, clock: FixedClock
) -> None:
    library(engine)
    use(engine, clock)
    plain, told = results(engine, "server database"), results(engine, "server database", explain=True)
    assert [{**result, "explanation": None} for result in plain] == [
        {**result, "explanation": None} for result in told
    ]
    for result in json.loads(json.dumps(told, allow_nan=False)):
        listed = [
            Reason(one["step"], one["effect"], one["value"], tuple(one["numbers"]), one["score"])
            for one in result["explanation"]
        ]
        assert recompute_score(listed) == result["score"]
        names = [reason.step for reason in listed]
        assert names[:3] == ["rrf: meaning", "rrf: words", "base relevance"]
        steps = {"salience", "forgetting", "cooccurrence", "status", "metadata", "rescaled"}
        assert set(names) > steps


# The numbers


def decay(seconds: float) -> float:
    return max(0.1, exp(-0.0001 * seconds / HOUR))


def test_the_components_are_those_of_the_published_formulas_on_the_same_signals(
    engine: Engine, clock: FixedClock
) -> None:
    library(engine)
    created = clock()
    use(engine, clock)
    found = {result["name"]: result for result in results(engine, "server database framework paper")}
    assert set(found) == {"FastMCP", "SQLite", "Postgres", "Listing", "Notebook"}
    # By the story of `use`: how often, on how many days, when last, how many relations.
    at = {
        "FastMCP": (4, 3, 4 * DAY + 2 * HOUR, 2),
        "SQLite": (3, 3, 4 * DAY + 2 * HOUR, 2),
        "Postgres": (2, 2, 4 * DAY + 1 * HOUR, 1),
        "Listing": (1, 1, 4 * DAY + 1 * HOUR, 0),
        "Notebook": (0, 0, None, 1),
    }
    now = (clock() - created).total_seconds()
    together = {
        ("FastMCP", "SQLite"): log2(4) * decay(now - 4 * DAY - 2 * HOUR),
        ("FastMCP", "Postgres"): decay(now - DAY - HOUR),
        ("SQLite", "Postgres"): decay(now - DAY - HOUR),
        ("Postgres", "Listing"): decay(now - 4 * DAY - HOUR),
    }
    for name, (count, days, seen, degree) in at.items():
        scoring = found[name]["scoring"]
        access, consolidation = log2(1 + count) / log2(5), log2(1 + days) / log2(4)
        assert scoring == pytest.approx(
            {
                "importance": access * (1 + 0.15 * degree / 15) * (1 + 0.2 * consolidation),
                "temporal_factor": decay(now - (seen or 0)),
                "cooc_boost": sum(boost for pair, boost in together.items() if name in pair),
            }
        )
        # Postgres is paused; two of Listing's three observations are metadata.
        deboost = {"Postgres": 0.85, "Listing": 0.7}.get(name, 1.0)
        assert found[name]["limbic_score"] == pytest.approx(
            max(0.0, 1 - found[name]["distance"])
            * (1 + 0.5 * scoring["importance"])
            * scoring["temporal_factor"]
            * (1 + 0.01 * scoring["cooc_boost"])
            * deboost,
            rel=1e-12,
        )


def test_a_limbic_profile_of_the_users_own_need_keep_nothing(engine: Engine) -> None:
    steps = tuple(step for step in LIMBIC.steps if not isinstance(step, Keep))
    mine = Engine(replace(engine._services, profiles={"limbic": replace(LIMBIC, steps=steps)}))
    library(mine)
    for result in results(mine, "database"):
        assert result["limbic_score"] == result["score"]
        assert "rrf_score" not in result
