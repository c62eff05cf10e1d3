"""What open models were trained to see before a text, where neither server nor library adds it."""

from __future__ import annotations

_SEARCHING = "Represent this sentence for searching relevant passages: "

# The first part that a name contains decides.
_PREFIXES = (
    ("instruct", "", ""),  # these want an instruction that only the user knows
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("mxbai-embed-large", _SEARCHING, ""),
    ("snowflake-arctic-embed2", "query: ", ""),
    ("snowflake-arctic-embed-l-v2", "query: ", ""),
    ("snowflake-arctic-embed-m-v2", "query: ", ""),
    ("snowflake-arctic-embed", _SEARCHING, ""),
    ("bge-small-en", _SEARCHING, ""),
    ("bge-base-en", _SEARCHING, ""),
    ("bge-large-en", _SEARCHING, ""),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
    ("e5-small", "query: ", "passage: "),
    ("e5-base", "query: ", "passage: "),
    ("e5-large", "query: ", "passage: "),
)


def prefixes(model: str) -> tuple[str, str]:
    """What stands before a query and before a document; nothing where we know of nothing."""
    plain = model.lower()
    return next(((query, text) for part, query, text in _PREFIXES if part in plain), ("", ""))
