"""The HTTP server: MCP, REST API, mem0's routes and the dashboard."""
