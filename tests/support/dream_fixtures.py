"""The command line with a memory that has a past: a plugin of the tests of dreams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dream_world import fill_store

if TYPE_CHECKING:
    from command_line import CommandLine


@pytest.fixture
def night(recollect: CommandLine) -> CommandLine:
    """Before its first dream."""
    fill_store(recollect.store)
    return recollect
