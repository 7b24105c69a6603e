"""The same tools for any MCP host, over stdio."""
