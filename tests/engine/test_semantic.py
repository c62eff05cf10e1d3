"""`search_semantic` answers in the form of MCP Memory v2, with the numbers of its formulas."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from recollect.changes import NewEntity, NewObservation, NewText, PutEntity, PutText
from recollect.embedders.hashing import HashingEmbedder
from recollect.engine.engine import Engine
from recollect.ranking.explain import Reason, recombined
from recollect.ranking.profiles import LIMBIC
from recollect.ranking.steps.adjust import Keep
from recollect.ranking.steps.limbic import (
    BETA_SAL,
    GAMMA,
    compute_cooc_boost,
    compute_importance,
    compute_temporal_factor,
    detect_query_type,
    rank_hybrid_candidates,
    reciprocal_rank_fusion,
)
from recollect.records import Kind, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import FixedClock, MakeEngine
    from recollect.engine.repository import Repository
    from recollect.ports import Vectors

# The published fields, and what we add.
PUBLISHED = {
    "name",
    "entityType",
    "observations",
    "distance",
    "limbic_score",
    "scoring",
    "routing_strategy",
}
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
    found: list[dict[str, Any]] = engine.graph.search_semantic(query, limit, record=False, **options)[
        "results"
    ]
    return found


# The form


def test_a_result_has_the_published_fields_and_names(engine: Engine) -> None:
    library(engine)
    answer = engine.graph.search_semantic("server database", record=False)
    assert set(answer) == {"results"}
    for result in answer["results"]:
        assert set(result) == PUBLISHED | OURS | {"rrf_score"}
        assert set(result["scoring"]) == {"importance", "temporal_factor", "cooc_boost"}
        assert result["mode"] == "hybrid"
    sqlite = next(result for result in answer["results"] if result["name"] == "SQLite")
    assert (sqlite["entityType"], sqlite["observations"]) == ("Database", ["an embedded database", "FTS5"])
    json.dumps(answer, allow_nan=False)


def test_only_observations_in_force_are_shown(engine: Engine, clock: FixedClock) -> None:
    library(engine)
    clock.tick()
    engine.graph.add_observations({"SQLite": [{"content": "FTS6", "supersedes": "FTS5"}]})
    sqlite = next(result for result in results(engine, "embedded") if result["name"] == "SQLite")
    assert sqlite["observations"] == ["an embedded database", "FTS6"]


def test_without_a_word_in_common_the_mode_is_pure_and_there_is_no_rrf_score(
    make_engine: MakeEngine,
) -> None:
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
    answer = engine.graph.search_semantic("database", record=False)
    assert "doctor" in answer["note"]
    assert {result["name"] for result in answer["results"]} == {"SQLite", "Postgres", "Listing"}
    for result in answer["results"]:
        assert (result["mode"], result["distance"]) == ("words", None)
        assert "rrf_score" not in result
        # 0.2 to 0.8 by the fused score; Postgres is paused, and Listing is mostly metadata
        weight = {"Postgres": 0.85, "Listing": 0.7}.get(result["name"], 1.0)
        assert 0.2 <= round(result["limbic_score"] / weight, 12) <= 0.8


@pytest.mark.parametrize(("query", "limit"), [("", None), ("  \n", None), ("database", 0)])
def test_asking_for_nothing_gives_nothing(engine: Engine, query: str, limit: int | None) -> None:
    library(engine)
    assert engine.graph.search_semantic(query, limit) == {"results": []}


def test_only_entities_are_found(engine: Engine, store: Repository, clock: FixedClock) -> None:
    library(engine)
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
    strategy = detect_query_type(query, limit)
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
        assert recombined(listed) == result["score"]
        names = [reason.step for reason in listed]
        assert names[:3] == ["rrf: meaning", "rrf: words", "base relevance"]
        steps = {"salience", "forgetting", "cooccurrence", "status", "metadata", "rescaled"}
        assert set(names) > steps


# The numbers


def test_the_components_are_those_of_the_published_functions_on_the_same_signals(
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
    ids = {name: engine.graph.open_nodes([name], record=False).entities[0].id for name in at}
    together = {
        ("FastMCP", "SQLite"): (3, created + timedelta(seconds=4 * DAY + 2 * HOUR)),
        ("FastMCP", "Postgres"): (1, created + timedelta(seconds=DAY + HOUR)),
        ("SQLite", "Postgres"): (1, created + timedelta(seconds=DAY + HOUR)),
        ("Postgres", "Listing"): (1, created + timedelta(seconds=4 * DAY + HOUR)),
    }
    co_occurrences = {(ids[one], ids[other]): pair for (one, other), pair in together.items()}
    for name, (count, days, seen, degree) in at.items():
        scoring = found[name]["scoring"]
        assert scoring["importance"] == compute_importance(count, 4, degree, days, 3)
        accessed = None if seen is None else created + timedelta(seconds=seen)
        assert scoring["temporal_factor"] == compute_temporal_factor(accessed, created, clock())
        assert scoring["cooc_boost"] == compute_cooc_boost(ids[name], co_occurrences, ids.values(), clock())
        # Postgres is paused; two of Listing's three observations are metadata.
        deboost = {"Postgres": 0.85, "Listing": 0.7}.get(name, 1.0)
        assert found[name]["limbic_score"] == pytest.approx(
            max(0.0, 1 - found[name]["distance"])
            * (1 + BETA_SAL * scoring["importance"])
            * scoring["temporal_factor"]
            * (1 + GAMMA * scoring["cooc_boost"])
            * deboost,
            rel=1e-12,
        )


def test_the_published_ranking_function_agrees_on_the_same_candidates(
    engine: Engine, clock: FixedClock
) -> None:
    """With every entity active and none of them metadata, the functions say all there is to say."""
    engine.create_entities(
        [{"name": f"tea {number}", "observations": [f"tea {'leaf ' * number}pot"]} for number in range(8)]
    )
    created = clock()
    for number in (1, 5, 1, 3):
        clock.tick(5 * HOUR)
        engine.graph.open_nodes([f"tea {number}"])
    ids = {f"tea {number}": number for number in range(8)}
    hits = engine.search("tea leaf", profile="limbic", kinds=["entity"], limit=8).hits
    by_rank = {
        source: sorted((hit for hit in hits if source in hit.places), key=lambda hit: hit.places[source].rank)
        for source in ("meaning", "words")
    }
    merged = reciprocal_rank_fusion(
        [{"entity_id": ids[hit.memory.name], "distance": 1 - hit.places["meaning"].score}
         for hit in by_rank["meaning"]],
        [{"entity_id": ids[hit.memory.name]} for hit in by_rank["words"]],
    )  # fmt: skip
    times = {1: 3, 5: 2, 3: 4}  # the turn of the last access
    access = {
        number: {
            "access_count": 2 if number == 1 else 1,
            "access_days": 2 if number == 1 else 1,  # 17:00 and 03:00
            "last_access": created + timedelta(seconds=turn * 5 * HOUR),
        }
        for number, turn in times.items()
    }
    ranked = rank_hybrid_candidates(
        [{**one, "created_at": created} for one in merged], access, {}, {}, 8, now=clock()
    )
    found = {result["name"]: result for result in results(engine, "tea leaf", 8)}
    assert {f"tea {one['entity_id']}": one["limbic_score"] for one in ranked} == pytest.approx(
        {name: result["limbic_score"] for name, result in found.items()}, rel=1e-12
    )
    assert {f"tea {one['entity_id']}": one["rrf_score"] for one in ranked} == pytest.approx(
        {name: result["rrf_score"] for name, result in found.items()}, rel=1e-12
    )


def test_a_limbic_profile_of_the_users_own_need_keep_nothing(engine: Engine) -> None:
    steps = tuple(step for step in LIMBIC.steps if not isinstance(step, Keep))
    mine = Engine(replace(engine._services, profiles={"limbic": replace(LIMBIC, steps=steps)}))
    library(mine)
    for result in results(mine, "database"):
        assert result["limbic_score"] == result["score"]
        assert "rrf_score" not in result
