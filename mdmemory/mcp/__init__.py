"""The memory as an MCP server on stdio, with the same tools as elsewhere."""
