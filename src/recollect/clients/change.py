"""What installing and uninstalling do to the text of a client's settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.clients.entry import Launch, entry, is_ours
from recollect.clients.failures import AnotherEntry, NotEditable

if TYPE_CHECKING:
    from recollect.clients.catalogue import Client


@dataclass(frozen=True, slots=True)
class Change:
    """None stands for a file that is not there."""

    before: str | None
    after: str | None

    @property
    def is_none(self) -> bool:
        return self.before == self.after


def installed(client: Client, before: str | None, name: str, launch: Launch, *, force: bool) -> Change:
    """Put the entry in. One that is the same stays; one that differs is replaced only by `force`."""
    wanted = entry(launch, typed=client.format.typed)
    there = client.format.entry_in(before or "", name)
    if there == wanted:
        return Change(before, before)
    if there is not None and not force:
        raise AnotherEntry(
            f"{client.title} already has a server named {name!r}, and it differs. "
            "Replace it with --force, or give ours another --name."
        )
    return Change(before, client.format.with_entry(before or "", name, wanted))


def uninstalled(
    client: Client, before: str | None, name: str, original: str | None, *, force: bool
) -> Change:
    """Take the entry out. `original` is what was there before we put it in, as far as it was kept."""
    there = None if before is None else client.format.entry_in(before, name)
    if before is None or there is None:
        return Change(before, before)
    if not is_ours(there) and not force:
        raise AnotherEntry(
            f"The server {name!r} of {client.title} does not start Recollect; take it out with --force."
        )
    # Where nothing else has changed since, the file is as it was before us, to the letter.
    for candidate in (original, None):
        if _made(client, candidate, name, there) == before:
            return Change(before, candidate)
    return Change(before, client.format.without_entry(before, name))


def _made(client: Client, text: str | None, name: str, found: dict[str, object]) -> str | None:
    """What putting this entry into a text makes of it; None where it cannot, or was in it already."""
    try:
        if client.format.entry_in(text or "", name) is not None:
            return None
        return client.format.with_entry(text or "", name, found)
    except NotEditable:
        return None
