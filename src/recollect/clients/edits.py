"""What installing and uninstalling do to the text of a client's settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.clients.entry import Launch, is_ours, server_entry, updated_entry
from recollect.clients.errors import AnotherEntry, NotEditable

if TYPE_CHECKING:
    from recollect.clients.catalogue import Client


@dataclass(frozen=True, slots=True)
class SettingsEdit:
    """A file's text before and after; None stands for a file that is not there."""

    before: str | None
    after: str | None
    needs_backup: bool = True
    """Whether the text before is more than what an earlier edit of ours made of it."""

    @property
    def is_none(self) -> bool:
        return self.before == self.after


def edit_to_install(
    client: Client, before: str | None, name: str, launch: Launch, original: str | None = None, *, force: bool
) -> SettingsEdit:
    """Put the entry in. One of ours is brought up to date; another's is replaced only by `force`.

    `original` is what was there before we first put it in, as far as it was kept.
    """
    wanted = server_entry(launch, typed=client.format.typed)
    there = client.format.entry_in(before or "", name)
    ours = is_ours(there)
    if ours:
        wanted = updated_entry(there, wanted)
    if there == wanted:
        return SettingsEdit(before, before)
    if there is not None and not ours and not force:
        raise AnotherEntry(
            f"{client.title} already has a server named {name!r}, and it does not start Recollect. "
            "Replace it with --force, or give ours another --name."
        )
    is_our_work = ours and before in {_installed_into(client, text, name, there) for text in (original, None)}
    return SettingsEdit(before, client.format.with_entry(before or "", name, wanted), not is_our_work)


def edit_to_uninstall(
    client: Client, before: str | None, name: str, original: str | None, *, force: bool
) -> SettingsEdit:
    """Take the entry out. `original` is what was there before we put it in, as far as it was kept."""
    there = None if before is None else client.format.entry_in(before, name)
    if before is None or there is None:
        return SettingsEdit(before, before)
    if not is_ours(there) and not force:
        raise AnotherEntry(
            f"The server {name!r} of {client.title} does not start Recollect; take it out with --force."
        )
    # Where nothing else has changed since, the file is as it was before us, to the letter.
    for candidate in (original, None):
        if _installed_into(client, candidate, name, there) == before:
            return SettingsEdit(before, candidate)
    return SettingsEdit(before, client.format.without_entry(before, name))


def _installed_into(client: Client, text: str | None, name: str, entry: dict[str, object]) -> str | None:
    """The text with this entry put in; None where that cannot be done, or it was in it already."""
    try:
        if client.format.entry_in(text or "", name) is not None:
            return None
        return client.format.with_entry(text or "", name, entry)
    except NotEditable:
        return None
