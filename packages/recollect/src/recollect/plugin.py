"""The API for packages that extend Recollect.

A package registers each extension as an entry point:

| group | name | object |
|---|---|---|
| `recollect.importers` | the format's name for `--format` | a `ForeignFormat` |
| `recollect.stores` | the scheme of a store's URL | a `Store` |
| `recollect.models` | the model's name | the package that holds its files |
| `recollect.commands` | the command's name | a `Command` or `Group`, made with `command` or `group` |

The names below are loaded when they are first used. The modules in `MODULES` are public as a whole.
Everything else may change in any release, except the documented API of `recollect`.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # not from typing, whose import is slow
if TYPE_CHECKING:
    from recollect.admin import TOKEN_PREFIX, Internals, Lease, StoreState, Tokens, token_digest
    from recollect.cli.command import Call, Command, ExtraCommand, Group, command, group
    from recollect.cli.rendering import Result
    from recollect.domain.errors import MissingExtra, load_registered, needs_extra, registered
    from recollect.dreams.dreaming import DreamResult
    from recollect.dreams.knobs import Phase
    from recollect.dreams.plan import DreamReport
    from recollect.memories.browse import BrowseFilter, EntityOrder, Order, State, TimeOf, Unit, coarser
    from recollect.models.registry import packaged_model
    from recollect.operations.operation import Operation
    from recollect.ranking.candidates import Reason, effect_text, step_text
    from recollect.search.recall import hits_worth_reading, memory_text
    from recollect.search.why_not import WhyNot
    from recollect.self_test.questions import SelfTest
    from recollect.services import memory_version
    from recollect.stores.port import CopySource, CopyTarget, Progress, Snapshot, Store, Transaction
    from recollect.text.tokens import fold
    from recollect.transfer.importers import ForeignFormat, ForeignItem, ForeignSource
    from recollect.tuning.answers import ConfidenceBin, ConfidenceCurve, ReplayedMemory
    from recollect.tuning.tuning import TuningChange
    from recollect.write.inputs import as_of_time

MODULES = (
    "recollect.aio",
    "recollect.bootstrap",
    "recollect.cli.command",
    "recollect.cli.options",
    "recollect.cli.rendering",
    "recollect.domain",
    "recollect.mcp",
    "recollect.operations",
    "recollect.settings",
    "recollect.stores.check",
    "recollect.stores.port",
    "recollect.stores.sql",
    "recollect.stores.url",
    "recollect.stores.vectors",
    "recollect.text.phrases",
    "recollect.transfer",
)
"""Modules and packages whose public names extensions may import."""

_NAMES_BY_MODULE = {
    "admin": "TOKEN_PREFIX Internals Lease StoreState Tokens token_digest",
    "cli.command": "Call Command ExtraCommand Group command group",
    "cli.rendering": "Result",
    "domain.errors": "MissingExtra load_registered needs_extra registered",
    "dreams.dreaming": "DreamResult",
    "dreams.knobs": "Phase",
    "dreams.plan": "DreamReport",
    "memories.browse": "BrowseFilter EntityOrder Order State TimeOf Unit coarser",
    "models.registry": "packaged_model",
    "operations.operation": "Operation",
    "ranking.candidates": "Reason effect_text step_text",
    "search.recall": "hits_worth_reading memory_text",
    "search.why_not": "WhyNot",
    "self_test.questions": "SelfTest",
    "services": "memory_version",
    "stores.port": "CopySource CopyTarget Progress Snapshot Store Transaction",
    "text.tokens": "fold",
    "write.inputs": "as_of_time",
    "transfer.importers": "ForeignFormat ForeignItem ForeignSource",
    "tuning.answers": "ConfidenceBin ConfidenceCurve ReplayedMemory",
    "tuning.tuning": "TuningChange",
}
_MODULE_BY_NAME = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}

__all__ = [  # a literal list for type checkers, kept equal to _NAMES_BY_MODULE by a test
    "MODULES",
    "TOKEN_PREFIX",
    "BrowseFilter",
    "Call",
    "Command",
    "ConfidenceBin",
    "ConfidenceCurve",
    "CopySource",
    "CopyTarget",
    "DreamReport",
    "DreamResult",
    "EntityOrder",
    "ExtraCommand",
    "ForeignFormat",
    "ForeignItem",
    "ForeignSource",
    "Group",
    "Internals",
    "Lease",
    "MissingExtra",
    "Operation",
    "Order",
    "Phase",
    "Progress",
    "Reason",
    "ReplayedMemory",
    "Result",
    "SelfTest",
    "Snapshot",
    "State",
    "Store",
    "StoreState",
    "TimeOf",
    "Tokens",
    "Transaction",
    "TuningChange",
    "Unit",
    "WhyNot",
    "as_of_time",
    "coarser",
    "command",
    "effect_text",
    "fold",
    "group",
    "hits_worth_reading",
    "load_registered",
    "memory_text",
    "memory_version",
    "needs_extra",
    "packaged_model",
    "registered",
    "step_text",
    "token_digest",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module 'recollect.plugin' has no attribute {name!r}")
    return getattr(import_module(f"recollect.{_MODULE_BY_NAME[name]}"), name)
