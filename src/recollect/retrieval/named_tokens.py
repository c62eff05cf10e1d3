"""The named tokens of a store: one small document among its settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from recollect.records import NamedToken, Scope
from recollect.retrieval.contents import store_setting
from recollect.retrieval.records import moment, moment_or_none, stamp, stamp_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.ports import Snapshot

TOKENS = "tokens"
"""The setting that holds them."""


def named_tokens(snapshot: Snapshot) -> tuple[NamedToken, ...]:
    """By name."""
    return tuple(
        NamedToken(
            name=each["name"],
            digest=each["digest"],
            right=each["right"],
            sees=None if each["sees"] is None else Scope(*each["sees"]),
            created_at=moment(each["created_at"]),
            used_at=moment_or_none(each["used_at"]),
        )
        for each in json.loads(store_setting(snapshot, TOKENS) or "[]")
    )


def tokens_text(tokens: Iterable[NamedToken]) -> str:
    """As `named_tokens` reads them."""
    return json.dumps(
        [
            {
                "name": each.name,
                "digest": each.digest,
                "right": each.right,
                "sees": None if each.sees is None else [each.sees.owner, each.sees.agent],
                "created_at": stamp(each.created_at),
                "used_at": stamp_or_none(each.used_at),
            }
            for each in sorted(tokens, key=lambda token: token.name)
        ]
    )
