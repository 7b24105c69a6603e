"""OpenCode: wiring, the bridge that its plugin talks to, and idle work."""
