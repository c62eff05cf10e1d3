"""What installing and uninstalling do to the text of a client's settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.clients.entry import Launch, entry, is_ours, updated
from recollect.clients.failures import AnotherEntry, NotEditable

if TYPE_CHECKING:
    from recollect.clients.catalogue import Client


@dataclass(frozen=True, slots=True)
class Change:
    """None stands for a file that is not there."""

    before: str | None
    after: str | None
    worth_a_copy: bool = True
    """Whether what was there is more than what an earlier change of ours made of it."""

    @property
    def is_none(self) -> bool:
        return self.before == self.after


def installed(
    client: Client, before: str | None, name: str, launch: Launch, original: str | None = None, *, force: bool
) -> Change:
    """Put the entry in. One of ours is brought up to date; another's is replaced only by `force`.

    `original` is what was there before we first put it in, as far as it was kept.
    """
    wanted = entry(launch, typed=client.format.typed)
    there = client.format.entry_in(before or "", name)
    ours = is_ours(there)
    if ours:
        wanted = updated(there, wanted)
    if there == wanted:
        return Change(before, before)
    if there is not None and not ours and not force:
        raise AnotherEntry(
            f"{client.title} already has a server named {name!r}, and it does not start Recollect. "
            "Replace it with --force, or give ours another --name."
        )
    is_our_work = ours and before in {_made(client, text, name, there) for text in (original, None)}
    return Change(before, client.format.with_entry(before or "", name, wanted), not is_our_work)


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
