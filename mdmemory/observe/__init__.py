"""Observations: what an assistant's tools showed, made short, so that it can be looked up later."""
