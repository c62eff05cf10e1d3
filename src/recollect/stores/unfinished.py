"""What is said of a store that another one is still being copied into."""

from __future__ import annotations

from recollect.errors import StoreUnavailable


def unfinished_copy(store: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"{store} is a copy of another memory that is not complete. Run the same `recollect copy` again: "
        "it continues where it stopped."
    )
