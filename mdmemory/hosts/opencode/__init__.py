"""OpenCode: its wiring, and the bridge that its plugin talks to."""
