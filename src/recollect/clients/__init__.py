"""Programs that speak MCP: where each keeps its list of servers, and how ours is put in and taken out."""
