"""The tools for assistants: one table for all hosts."""
