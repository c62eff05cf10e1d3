"""What forms send: fields of text, and where to go afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.serve.operations.paging import row_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.requests import Request

_LONGEST_PATH = 1_000
# More ids than a page has rows come from no form of ours.
MOST_SELECTED = 50


class SentForm:
    """The fields of a form; a file is not taken for one."""

    def __init__(self, fields: Iterable[tuple[str, object]]) -> None:
        self._fields = [(name, value) for name, value in fields if isinstance(value, str)]

    def get(self, name: str) -> str | None:
        """The last value of this name, without spaces around it."""
        return next((value.strip() for key, value in reversed(self._fields) if key == name), None)

    def text(self, name: str) -> str:
        """As a person wrote it; browsers send line ends as CR LF."""
        return (self.get(name) or "").replace("\r\n", "\n")

    def ids(self, name: str) -> Sequence[int]:
        """From boxes that are checked, or from one field with commas between."""
        words = [word for key, value in self._fields if key == name for word in value.split(",") if word]
        found = [number for word in words if (number := row_id(word.strip())) is not None]
        if len(found) != len(words) or len(found) > MOST_SELECTED:
            raise InvalidInput(f"Select up to {MOST_SELECTED} memories by their ids; nothing was changed.")
        return list(dict.fromkeys(found))

    def pairs(self, name: str) -> Sequence[tuple[int, int]]:
        """Ids in twos, as `12:34,56:78`."""
        words = [word for word in (self.get(name) or "").split(",") if word]
        found = [(row_id(one), row_id(other)) for one, _, other in (word.partition(":") for word in words)]
        whole = [(one, other) for one, other in found if one is not None and other is not None]
        if len(whole) != len(words) or len(whole) > MOST_SELECTED:
            raise InvalidInput(f"The field {name} holds pairs of ids, as 12:34; nothing was changed.")
        return whole

    def back(self, usual: str) -> str:
        """The page that the form stood on, if it was one of ours."""
        given = self.get("back") or usual
        is_ours = given.startswith(("/browse", "/memory/", "/recall", "/why-not")) and given.isprintable()
        return given if is_ours and len(given) <= _LONGEST_PATH else usual


async def sent_form(request: Request) -> SentForm:
    async with request.form(max_files=0, max_fields=1_000) as form:
        return SentForm(form.multi_items())


def joined_ids(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))
