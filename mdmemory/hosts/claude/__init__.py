"""Claude Code: its wiring, and its own memory as a writer of ours."""
