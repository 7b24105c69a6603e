"""Citations: the places in a project that a note speaks of, and whether they still say the same."""
