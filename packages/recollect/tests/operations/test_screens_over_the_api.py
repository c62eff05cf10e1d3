"""The API has what the dashboard shows: why not, previews of dreams and imports, tokens, latencies."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from operation_calls import called

from recollect.domain.errors import InvalidInput, NotFound
from recollect.operations.catalogue import http_operations
from recollect_server.metrics import Metrics

if TYPE_CHECKING:
    from conftest import FixedClock

    from recollect.engine import Engine


def test_why_not_in_detail_has_every_search_and_a_sum_that_is_the_score(engine: Engine) -> None:
    for day in range(1, 9):
        engine.remember(f"The harbour market opens on day {day}", tags=["market"])
    last = engine.remember("A market is held at times")

    found = called(
        engine, "why_not", query="When does the harbour market open?", id=last.id, limit=2, detail=True
    )["detail"]

    standing = found["standing"]
    assert found["id"] == last.id
    assert standing["place"] > 2
    assert standing["score"] < standing["needed"]
    assert standing["reasons"][-1]["score"] == standing["score"]
    assert {each["name"] for each in found["branches"]} >= {"words", "meaning"}
    assert all(each["rank"] <= each["taken"] for each in found["branches"] if each["reached"])
    assert [each["places"] for each in standing["costs"]] == sorted(
        (each["places"] for each in standing["costs"]), reverse=True
    )
    short = called(engine, "why_not", query="When does the harbour market open?", id=last.id, limit=2)
    assert (short["verdict"], short["advice"]) == (found["verdict"], found["advice"])
    # Filters as on the screen: without the tag, no search could have found it.
    out = called(engine, "why_not", query="market", id=last.id, tags=["market"], detail=True)["detail"]
    assert (out["standing"], out["branches"]) == (None, [])
    with pytest.raises(NotFound, match="by its `id`, or an entity by its `name`"):
        called(engine, "why_not", query="market")


def test_a_previewed_dream_names_what_the_dream_then_does(engine: Engine, clock: FixedClock) -> None:
    first = engine.remember("Ada drinks tea in the garden")
    second = engine.remember("Ada drinks the tea in the garden!")
    engine.create_entities([{"name": "Ada", "observations": ["Ada drinks tea in the garden"]}])
    engine.graph.add_observations({"Ada": ["Ada drinks the tea in the garden!"]})
    called(engine, "dream", without=["merge"])  # from which on all fades
    clock.now += timedelta(days=30)

    tried = called(engine, "preview_dream")

    texts = ["Ada drinks the tea in the garden!", "Ada drinks tea in the garden"]
    assert tried["merged"] == [[second.id, first.id]]
    assert [tried["texts"][str(id_)] for id_ in tried["merged"][0]] == texts
    (observations,) = tried["merged_observations"]
    assert [tried["observations"][str(id_)] for id_ in observations[1:]] == texts
    assert tried["faded"] == len(tried["weakest"]) > 0
    assert all(each["after"] < each["before"] for each in tried["weakest"])
    assert called(engine, "preview_dream", without=["merge"])["merged"] == []
    assert len(called(engine, "list_dreams")["dreams"]) == 1
    done = called(engine, "dream")
    assert done["merged"] == tried["totals"]["merged"] + tried["totals"]["merged_observations"] == 2
    assert (done["faded"], done["consolidated"]) == (tried["faded"], tried["consolidated"])


def test_a_token_is_shown_once_and_revoked_by_name(engine: Engine) -> None:
    made = called(engine, "create_token", name="ci.read", right="read", owner="ana")

    assert made["token"].startswith("recollect_")
    listed = called(engine, "list_tokens")["tokens"]
    (row,) = listed
    assert (row["name"], row["right"], row["used_at"]) == ("ci.read", "read", None)
    assert row["sees"] == {"owner": "ana", "agent": None}
    assert made["token"] not in str(listed)
    with pytest.raises(InvalidInput, match="give the `owner` too"):
        called(engine, "create_token", name="other", agent="bot")
    assert called(engine, "revoke_token", name="ci.read") == {"revoked": "ci.read"}
    assert called(engine, "list_tokens")["tokens"] == []
    with pytest.raises(NotFound, match=r"no token 'ci\.read'"):
        called(engine, "revoke_token", name="ci.read")
    for name in ("list_tokens", "create_token", "revoke_token"):
        assert http_operations()[name].of_every_owner


@pytest.mark.sqlite
def test_latencies_come_by_minute_the_newest_first(engine: Engine, clock: FixedClock) -> None:
    metrics = Metrics(clock)
    metrics.record("recall", 0.25)
    clock.now += timedelta(minutes=1)
    for seconds in (0.5, 1.0, 2.0):
        metrics.record("recall", seconds)
    metrics.record("forget", 0.1)
    latencies = http_operations()["latencies"]

    first = latencies.call(engine, {"operation": "recall", "limit": 1}, latencies=metrics.latencies).result

    # Of three, the middle one; and 0.95 × 3 = 2.85, the third.
    minute = {"minute": "2026-03-01T12:01:00+00:00", "operation": "recall", "calls": 3}
    assert first["minutes"] == [{**minute, "median": 1.0, "p95": 2.0}]
    rest = {"operation": "recall", "limit": 1, "cursor": first["cursor"]}
    (older,) = latencies.call(engine, rest, latencies=metrics.latencies).result["minutes"]
    assert older["median"] == 0.25
    since = latencies.call(engine, {"since": "2026-03-01T12:01:00Z"}, latencies=metrics.latencies).result
    assert {each["operation"] for each in since["minutes"]} == {"recall", "forget"}


def test_an_import_is_tried_without_writing(engine: Engine) -> None:
    lines = [
        '{"type":"entity","name":"Ana","entityType":"person","observations":["likes plums","reads"]}',
        '{"type":"entity","name":"Bo","entityType":"person","observations":[]}',
        '{"type":"relation","from":"Ana","to":"Bo","relationType":"knows"}',
        "{broken",
    ]

    tried = called(engine, "import_text", jsonl="\n".join(lines), dry_run=True)

    found = tried["found"]
    assert (tried["format"], tried["lines"], tried["bad_count"]) == ("official", 4, 1)
    assert (found["entities"], found["observations"], found["relations"]) == (2, 2, 1)
    assert tried["bad_lines"][0]["line"] == 4
    assert engine.counts().entities == 0
    done = called(engine, "import_text", jsonl="\n".join(lines))
    assert (done["entities_created"], done["relations_created"]) == (2, 1)
    assert done["found"] is None
