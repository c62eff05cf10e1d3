"""The Model Context Protocol: our operations as tools, with resources and prompts, on the SDK."""
