"""Every tool by name, and the sets that a user may choose from."""

from __future__ import annotations

from recollect.errors import InvalidInput
from recollect.serve.dream_tools import DREAM_TOOLS
from recollect.serve.feedback_tools import FEEDBACK_TOOLS
from recollect.serve.graph_tools import GRAPH_TOOLS
from recollect.serve.memory_tools import MEMORY_TOOLS
from recollect.serve.more_tools import MORE_TOOLS
from recollect.serve.tool import Tool
from recollect.serve.upkeep_tools import UPKEEP_TOOLS

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (*MEMORY_TOOLS, *GRAPH_TOOLS, *MORE_TOOLS, *UPKEEP_TOOLS, *DREAM_TOOLS, *FEEDBACK_TOOLS)
}
SETS: dict[str, tuple[str, ...]] = {
    "recall-only": ("recall", "context"),
    "default": tuple(tool.name for tool in (*MEMORY_TOOLS, *GRAPH_TOOLS)),
    "all": tuple(TOOLS),
}


def chosen(wanted: str) -> tuple[Tool, ...]:
    """The tools of a set, or those of a list of names with commas between."""
    names = SETS.get(wanted) or tuple(name.strip() for name in wanted.split(",") if name.strip())
    unknown = [name for name in names if name not in TOOLS]
    if unknown or not names:
        wrong = ", ".join(map(repr, unknown or [wanted]))
        raise InvalidInput(
            f"No tool named {wrong}; there are the sets {', '.join(SETS)} and the tools {', '.join(TOOLS)}."
        )
    return tuple(TOOLS[name] for name in names)
