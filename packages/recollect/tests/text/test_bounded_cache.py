"""What is kept of texts in memory is bounded, however many and however long they are."""

from __future__ import annotations

import tracemalloc

from recollect.language.claims import claims_of
from recollect.text.near_duplicates import near_duplicate
from recollect.text.tokens import keep_short


def test_short_arguments_are_kept_and_long_ones_worked_out_anew() -> None:
    asked: list[str] = []

    @keep_short(2, longest=5)
    def shout(text: str, again: str = "") -> str:
        asked.append(text)
        return (text + again).upper()

    for text in ("tea", "tea", "kettle", "kettle"):
        assert shout(text) == text.upper()
    assert asked == ["tea", "kettle", "kettle"]
    # All of the arguments count, by place or by name.
    assert [shout("tea", again="pots"), shout("tea", again="pots")] == ["TEAPOTS", "TEAPOTS"]
    assert len(asked) == 5


def test_long_texts_that_were_compared_once_do_not_stay_in_memory() -> None:
    def compare(numbers: range) -> None:
        for number in numbers:
            text = f"Ana lives in Porto and counts to {number}. " + "Her kettle whistles twice. " * 400
            claims_of(text)
            near_duplicate(text, "Ana lives in Porto", 0.9)

    compare(range(3))
    tracemalloc.start()
    try:
        compare(range(3, 5))
        before, _ = tracemalloc.get_traced_memory()
        compare(range(5, 45))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Each is of ten thousand letters, and there were forty more of them.
    assert after - before < 100_000
