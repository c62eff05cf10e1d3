"""Reads payloads from the folders of embedded vector databases: Qdrant's local mode, and Chroma."""

from __future__ import annotations

import io
import pickle
from typing import TYPE_CHECKING, Any

from recollect.transfer.formats.items import BadRow
from recollect.transfer.formats.source import ForeignRow, ForeignSource, open_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_QDRANT_MODELS = "qdrant_client.http.models.models"
_CHROMA_VALUES = ("string_value", "int_value", "float_value", "bool_value")


def qdrant_files(folder: Path) -> list[Path]:
    """The collections of a local Qdrant in this folder or one below."""
    places = ("collection/*/storage.sqlite", "*/collection/*/storage.sqlite")
    return sorted(file for place in places for file in folder.glob(place))


def chroma_files(folder: Path) -> list[Path]:
    return sorted(file for place in ("chroma.sqlite3", "*/chroma.sqlite3") for file in folder.glob(place))


def is_qdrant(source: ForeignSource) -> bool:
    return source.has_table("points", "id", "point")


def is_chroma(source: ForeignSource) -> bool:
    return source.has_table("embeddings", "embedding_id") and source.has_table("embedding_metadata", "key")


def qdrant_payloads(file: Path) -> Iterator[tuple[str, dict[str, Any]] | BadRow]:
    """Each point's id and payload."""
    with open_database(file) as rows:
        for row in rows.execute("SELECT rowid, point FROM points ORDER BY rowid"):
            try:
                fields = _Unpickler(io.BytesIO(row["point"])).load().fields
                yield str(fields["id"]), dict(fields.get("payload") or {})
            except Exception as error:  # noqa: BLE001  # bytes that are no pickle of a point fail in any way
                reason = f"The point cannot be read: {str(error) or type(error).__name__}."
                yield BadRow(f"{file.parent.name}, point {row['rowid']}", reason)


class _Point:
    """The data of a pickled Qdrant model, without its code."""

    fields: dict[str, Any]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.fields = state["__dict__"]


class _Unpickler(pickle.Unpickler):
    """Qdrant stores points as pickles, which could run any code. This reads only its models, as data."""

    def find_class(self, module: str, name: str) -> type:
        if module == _QDRANT_MODELS:
            return _Point
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is not part of a point")


def chroma_payloads(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each record's id and metadata, its document included."""
    with open_database(file) as rows:
        tables = {row["name"] for row in rows.execute("SELECT name FROM sqlite_master WHERE type='table'")}
        for row in rows.execute("SELECT id, embedding_id FROM embeddings ORDER BY id").fetchall():
            payload: dict[str, Any] = {}
            for field in rows.execute("SELECT * FROM embedding_metadata WHERE id = ?", (row["id"],)):
                payload[field["key"]] = _chroma_value(field)
            if "embedding_metadata_array" in tables:
                for field in rows.execute(
                    "SELECT * FROM embedding_metadata_array WHERE id = ?", (row["id"],)
                ):
                    payload.setdefault(field["key"], []).append(_chroma_value(field))
            yield row.text("embedding_id"), payload


def _chroma_value(field: ForeignRow) -> Any:
    return next((field[name] for name in _CHROMA_VALUES if field[name] is not None), None)
