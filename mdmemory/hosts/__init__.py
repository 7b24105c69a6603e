"""Clients that run an assistant: how each is wired, and its events."""
