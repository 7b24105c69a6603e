"""Compaction: a plan of ops, the guards that judge it, and the run that applies it."""
