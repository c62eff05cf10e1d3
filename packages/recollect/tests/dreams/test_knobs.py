"""The numbers of a dream: the published ones by default, and none that make no sense."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.domain.errors import InvalidInput
from recollect.dreams.knobs import ByKind, Knobs


def test_the_defaults_are_the_published_numbers() -> None:
    knobs = Knobs()
    assert (knobs.max_delta, knobs.floor, knobs.daily) == (0.1, 0.01, 0.95)
    assert knobs.decay == ByKind(entity=0.25, note=0.5, message=1.0)
    assert knobs.weight == ByKind(entity=1.5, note=1.0, message=0.5)
    assert (knobs.prune_staleness, knobs.prune_signal, knobs.prune_strength) == (90, 0.1, 0.2)
    assert (knobs.prune_revisions, knobs.place_days) == (1, 1)
    assert (knobs.archive_staleness, knobs.archive_strength) == (180, 0.1)
    assert (knobs.promote_signal, knobs.promote_spread) == (1, 3)
    # Kinds come in their own order.
    assert ByKind(message=3, note=2, entity=1).column() == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_delta", -0.1),
        ("max_delta", 1.1),
        ("daily", 1.01),
        ("daily", float("nan")),
        ("floor", 2),
        ("prune_echo", 1.5),
        ("prune_staleness", -1),
        ("prune_most", float("inf")),
        ("gate_margin", True),
        ("decay", ByKind(entity=0.25, note=-0.5, message=1.0)),
        ("weight", ByKind(entity=0.25, note=float("nan"), message=1.0)),
    ],
)
def test_a_number_that_makes_no_sense_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=name):
        Knobs(**{name: value})
    # The ends of the range are fine.
    assert Knobs(daily=1, floor=0, max_delta=0, prune_echo=0, gate_margin=1).daily == 1
