"""Checksums of rows that hold a user's words, so that a letter that changes on the disk is noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from recollect.conditions import Equals, OneOf

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recollect.conditions import Where
    from recollect.ports import Transaction
    from recollect.tables import Table, Values

WORDS: Mapping[Table, Mapping[str, str | None]] = {
    "scope": {"owner": "", "agent": ""},
    "memory": {
        "name": "",
        "type": "",
        "text": "",
        "category": None,
        "source": None,
        "session": None,
        "role": None,
        "speaker": None,
        "importance_tag": None,
    },
    "observation": {"content": "", "kind": "generic"},
    "relation": {"type": "", "context": ""},
    "revision": {"text": ""},
}
"""The columns that a row's checksum is of, in this order, with what the schema gives those that are left out.

Tags have none: each is stored beside its folded form, and the two must agree.
"""


def words_checksum(words: Iterable[str | None]) -> int:
    """Of the words of one row: CRC-32, which notices every change within 32 bits that follow one another."""
    joined = "\x1f".join(["\0" if word is None else word for word in words])
    return crc32(joined.encode("utf-8", "surrogatepass"))


def with_checksums(table: Table, rows: Sequence[Values]) -> Sequence[Values]:
    """New rows with the checksums of their words, where the table has them."""
    usual = WORDS.get(table)
    if usual is None:
        return rows
    items = usual.items()
    return [
        {**row, "checksum": words_checksum([row.get(column, value) for column, value in items])}
        for row in rows
    ]


def reworded(rows: Transaction, table: Table, where: Where, values: Values) -> list[int]:
    """The rows whose checksums a patch with these values will change."""
    if table not in WORDS or WORDS[table].keys().isdisjoint(values):
        return []
    return [id_ for (id_,) in rows.rows(table, ("id",), where)]


def renew_checksums(rows: Transaction, table: Table, ids: Sequence[int]) -> None:
    """After the words of these rows were set."""
    if ids:
        for id_, *words in rows.rows(table, ("id", *WORDS[table]), (OneOf("id", ids),)):
            rows.patch(table, (Equals("id", id_),), {"checksum": words_checksum(words)})
