"""Clients that run an assistant, one package each, and what they share; git's hooks."""
