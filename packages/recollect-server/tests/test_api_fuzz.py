"""Whatever a client sends to the API, it gets what the OpenAPI document says, and never a 5xx."""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from api_world import HEADERS, served
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from hypothesis_profiles import tries
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.python.asgi import get_client
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.engine import Engine

LOG = logging.getLogger(__name__)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
FITTING = (200, 201, 304, 404, 409, 412)
"""Allowed statuses: done, not found, or in conflict with the store."""
REFUSING = (400, 404, 405, 413, 415, 422)
IDS = st.none() | st.integers(1, 6)
NAMES = st.none() | st.sampled_from(["Marisol Vega", "Tidebook", "a/b c?d"])


def fill(memory: Engine) -> None:
    for text in ("Ines keeps bees in Faro", "Otto mends clocks", "The ferry leaves at nine"):
        memory.remember(text, tags=["kept"])
    memory.create_entities(
        [{"name": "Marisol Vega", "entityType": "person", "observations": ["Drinks oolong", "Has a dog"]}]
    )
    memory.graph.create_relations([("Marisol Vega", "leads", "Tidebook")], create_missing=True)
    memory.add_messages("monday", [{"role": "user", "content": "I moved to Faro."}])


@pytest.mark.hypothesis
def test_every_endpoint_answers_as_the_document_says(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Some operations write files to a path in their arguments.
    monkeypatch.chdir(tmp_path)
    fill(engine)
    application = served(engine).application
    schema = schemathesis.openapi.from_asgi("/openapi.json", application, headers=HEADERS)
    # To it, the token is one more header to leave out, and a tenth of the calls would end at the door.
    schema.config.generation.update(with_security_parameters=False)
    schema.validate()
    statuses: dict[GenerationMode, Counter[int]] = {mode: Counter() for mode in MODES}
    with get_client(application) as client:
        for operation in map(loaded, schema.get_all_operations()):
            for mode in MODES:
                # An operation without arguments cannot be given wrong ones.
                with suppress(Unsatisfiable):
                    try_cases(operation, mode, statuses[mode], client)
    right, wrong = statuses.values()
    LOG.info("%s", statuses)
    assert right.total() > 100 < wrong.total(), statuses
    assert not right[401] + wrong[401], statuses
    # The rest is refused for what no schema says: a name with nothing to see, or one of two that exclude
    # each other.
    assert sum(right[status] for status in FITTING) > 0.6 * right.total(), statuses
    assert sum(wrong[status] for status in REFUSING) > 0.6 * wrong.total(), statuses


def loaded(found: Any) -> Any:
    return found.ok()


def try_cases(operation: Any, mode: GenerationMode, statuses: Counter[int], client: Any) -> None:
    @settings(
        max_examples=tries(4), phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None
    )
    @given(case=operation.as_strategy(generation_mode=mode), id_=IDS, name=NAMES)
    def tried(case: Any, id_: int | None, name: str | None) -> None:
        # Random ids and names are hardly ever there.
        for parameter, value in (("id", id_), ("name", name)):
            if value is not None and parameter in (case.path_parameters or {}):
                case.path_parameters[parameter] = value
        case.headers.update(HEADERS)
        if mode is GenerationMode.POSITIVE:
            without_cursor(case)
        answer = case.call(session=client)
        statuses[answer.status_code] += 1
        case.validate_response(answer, checks=CHECKS)

    tried()


def without_cursor(case: Any) -> None:
    """Only the server can make one that leads to a page."""
    for arguments in (case.query, case.body):
        if isinstance(arguments, dict):
            arguments.pop("cursor", None)
