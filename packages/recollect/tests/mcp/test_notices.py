"""Change notices: sent only for subscribed resources whose contents have changed."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest
from conftest import PATIENCE_SECONDS

from recollect.domain.errors import StoreUnavailable
from recollect.mcp.server import ChangeNotices

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Shelf:
    """Resources that a test writes, and the notices sent about them."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.number = 0
        self.told: list[str] = []
        self.looks = 0
        self.shut = False
        self.notices = ChangeNotices(self.fingerprint, self.version, self.notify)

    def write(self, uri: str, text: str) -> None:
        self.texts[uri] = text
        self.number += 1

    async def fingerprint(self, uri: str) -> int:
        if self.shut:
            raise StoreUnavailable("closed")
        return hash(self.texts.get(uri))

    async def version(self) -> int:
        self.looks += 1
        if self.shut:
            raise StoreUnavailable("closed")
        return self.number

    async def notify(self, uri: str) -> None:
        self.told.append(uri)

    async def wait_for_look(self) -> None:
        """Wait for two more looks, so that one of them sees everything written before."""
        wanted = self.looks + 2
        with anyio.fail_after(PATIENCE_SECONDS):
            while self.looks < wanted:
                self.notices.wake()
                await anyio.sleep(0.001)


@pytest.fixture
async def shelf() -> AsyncIterator[Shelf]:
    """A shelf with one watched resource."""
    shelf = Shelf()
    shelf.write("a", "one")
    await shelf.notices.watch("a")
    yield shelf
    shelf.notices.unwatch("a")


async def test_only_a_resource_that_is_watched_and_reads_otherwise_is_told_of(shelf: Shelf) -> None:
    await shelf.wait_for_look()
    shelf.write("b", "new")
    await shelf.wait_for_look()
    assert shelf.told == []
    shelf.write("a", "two")
    await shelf.wait_for_look()
    assert shelf.told == ["a"]


async def test_what_comes_and_goes_is_a_change(shelf: Shelf) -> None:
    await shelf.notices.watch("b")
    shelf.write("b", "here")
    await shelf.wait_for_look()
    del shelf.texts["b"]
    shelf.number += 1
    await shelf.wait_for_look()
    assert shelf.told == ["b", "b"]
    shelf.notices.unwatch("b")


async def test_one_that_leaves_does_not_take_the_others_notices_along(shelf: Shelf) -> None:
    await shelf.notices.watch("a")
    shelf.notices.unwatch("a")
    shelf.write("a", "two")
    await shelf.wait_for_look()
    assert shelf.told == ["a"]


async def test_what_could_not_be_read_at_first_is_told_once_it_can(shelf: Shelf) -> None:
    shelf.write("b", "one")
    shelf.shut = True
    await shelf.notices.watch("b")
    shelf.shut = False
    await shelf.wait_for_look()
    assert shelf.told == ["b"]
    shelf.notices.unwatch("b")


async def test_a_store_that_cannot_be_read_for_a_while_costs_no_notice(shelf: Shelf) -> None:
    shelf.shut = True
    await shelf.wait_for_look()
    shelf.write("a", "two")
    shelf.shut = False
    await shelf.wait_for_look()
    assert shelf.told == ["a"]
