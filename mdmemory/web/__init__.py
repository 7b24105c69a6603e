"""The memory in a browser: a server on this machine alone, pages made of what the facade gives."""
