"""The inbox: all that waits for a person as one list, and what becomes of each of it."""
