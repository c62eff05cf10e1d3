"""The REST API's table names every operation once, and paths that do not clash."""

from __future__ import annotations

from itertools import groupby

from recollect.operations.catalogue import http_operations
from recollect_server.api.endpoints import ENDPOINTS


def test_every_operation_has_an_endpoint_and_every_endpoint_its_operation() -> None:
    assert {each.operation for each in ENDPOINTS} == set(http_operations())


def test_ids_and_places_are_unique_and_tags_stand_together() -> None:
    ids = [each.operation_id for each in ENDPOINTS]
    places = [(each.method, each.path) for each in ENDPOINTS]
    tags = [tag for tag, _ in groupby(ENDPOINTS, key=lambda each: each.tag)]
    for listed in (ids, places, tags):
        assert len(listed) == len(set(listed))


def test_the_names_in_a_path_are_arguments_of_its_operation() -> None:
    for each in ENDPOINTS:
        known = http_operations()[each.operation].definition()["arguments"]["properties"]
        assert set(each.arguments.values()) <= known.keys(), each.path
