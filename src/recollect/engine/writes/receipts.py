"""Receipts of writes that were given a key, and what stays of one when what it stored is purged."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from recollect.conditions import Equals

if TYPE_CHECKING:
    from collections.abc import Collection

    from recollect.ports import Transaction

NO_DIGEST = ""
"""Of a receipt that no longer tells what was written."""


def purged_key(key: str) -> str:
    """The name under which a key is known once its words are gone, so that a retry repeats nothing."""
    return f"purged {hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}"


def forget_words(rows: Transaction, memories: Collection[int], observations: Collection[int]) -> None:
    """Take the words out of receipts that tell of these, and those of the keys with them."""
    gone, gone_observations = set(memories), set(observations)
    for key, at, receipt in (
        rows.rows("applied", ("key", "at", "receipt")) if gone or gone_observations else ()
    ):
        outcomes = json.loads(receipt)
        touched = any(
            not gone.isdisjoint(each["ids"])
            or any(added["id"] in gone_observations for added in each["added"])
            for each in outcomes
        )
        if not touched or key.startswith("purged "):
            continue
        bare = [
            {
                **each,
                "names": [""] * len(each["names"]),
                "added": [{**added, "content": ""} for added in each["added"]],
                "also_created": [],
                "took_type": None,
                "kept_type": None,
                "error": None if each["error"] is None else "",
            }
            for each in outcomes
        ]
        rows.remove("applied", (Equals("key", key),))
        row = {"key": purged_key(key), "digest": NO_DIGEST, "at": at, "receipt": json.dumps(bare)}
        rows.put("applied", [row])
