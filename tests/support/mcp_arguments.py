"""Arguments made from a tool's schema: mostly right, then spoiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

# Words of the memory, so that some calls find something, and difficult Unicode, SQL and JSON.
WORDS = (
    "Marisol Vega",
    "Tidebook",
    "leads",
    "Drinks oolong",
    "",
    " ",
    "\0",
    "a\u0301",
    "\u200b",
    "\u202eabc",
    "👩\u200d🚀",
    "週末は灯台まで歩く",
    "'; DROP TABLE memory; --",
    '"AND" OR NOT * ( NEAR',
    "%_\\",
    "2026-03-01",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "9" * 30,
    "²",
    "x" * 5_000,
    "word " * 3_000,
)
TEXTS = st.sampled_from(WORDS) | st.text(max_size=20)
NUMBERS = (
    st.integers(-2, 12)
    | st.integers(50, 2_000)
    | st.sampled_from((2**31, 2**63 - 1, 2**63, 2**64, -(2**70), 10**40))
    | st.sampled_from((0.5, 1.0, -0.0, 1e308, 1e-320, 2.5))
)
ANYTHING: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def fitting(schema: dict[str, Any]) -> SearchStrategy[Any]:
    """Values of the schema's form; numbers and texts may lie out of their range."""
    match schema:
        case {"enum": words}:
            return st.sampled_from(words)
        case {"anyOf": forms}:
            return st.one_of(*map(fitting, forms))
        case {"type": "object"}:
            return _table(schema)
        case {"type": "array"}:
            return st.lists(fitting(schema["items"]), max_size=4)
        case _:
            return {"string": TEXTS, "boolean": st.booleans()}.get(schema["type"], NUMBERS)


def _table(schema: dict[str, Any]) -> SearchStrategy[Any]:
    if "properties" not in schema:  # of any form
        return st.dictionaries(TEXTS, ANYTHING, max_size=3)
    forms = {name: fitting(form) for name, form in schema["properties"].items()}
    must = {name: forms[name] for name in schema.get("required", ())}
    return st.fixed_dictionaries(must, optional={name: forms[name] for name in forms if name not in must})


@st.composite
def arguments(draw: st.DrawFn, schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments that fit the schema, or with one value replaced by anything."""
    given: dict[str, Any] = draw(fitting(schema))
    if draw(st.integers(0, 2)) == 0:
        name = draw(st.sampled_from([*schema["properties"], "surprise"]))
        given[name] = draw(spoiled(given.get(name)))
    return given


def spoiled(value: Any) -> SearchStrategy[Any]:
    """Anything in place of the value, or of a value inside it."""
    match value:
        case [first, *rest]:
            return ANYTHING | spoiled(first).map(lambda bad: [bad, *rest])
        case {**inside} if inside:
            name = next(iter(inside))
            return ANYTHING | spoiled(inside[name]).map(lambda bad: {**inside, name: bad})
        case _:
            return ANYTHING
