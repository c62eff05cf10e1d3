"""The store file of an earlier version is unchanged: it was not adapted to newer code."""

from __future__ import annotations

from hashlib import sha256

import frozen_store
from compare import HERE, frozen

WRITTEN = "24b14d6bc1db66a6"
SCHEMA = 5


def test_the_old_store_is_as_it_was_written() -> None:
    assert sha256((HERE / frozen_store.FILE).read_bytes()).hexdigest()[:16] == WRITTEN
    assert frozen("store.json")["schema"] == SCHEMA
