"""Capture: from what was said in a session to notes proposed for the store. Writes nothing."""
