"""Settings: one table of them, and how their values are read."""
