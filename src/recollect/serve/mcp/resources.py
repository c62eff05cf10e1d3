"""Resources: the graph as a whole, and single entities and memories by address."""

from __future__ import annotations

import mcp_types as types

GRAPH = "memory://knowledge-graph"
ENTITY = "memory://entity/"
MEMORY = "memory://memory/"
MOST_COMPLETIONS = 100

GRAPH_RESOURCE = types.Resource(
    name="knowledge-graph",
    title="Knowledge graph",
    uri=GRAPH,
    description="Entities and relations, as many as fit a page; the tools read the rest",
    mime_type="application/json",
)
TEMPLATES = (
    types.ResourceTemplate(
        name="entity",
        title="Entity",
        uri_template=ENTITY + "{name}",
        description="One entity with its observations and relations",
        mime_type="application/json",
    ),
    types.ResourceTemplate(
        name="memory",
        title="Memory",
        uri_template=MEMORY + "{id}",
        description="One note, message or entity by its id",
        mime_type="application/json",
    ),
)
