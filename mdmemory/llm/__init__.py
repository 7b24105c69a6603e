"""Asking a model: one interface, two ways to reach one, and an account of every call."""
