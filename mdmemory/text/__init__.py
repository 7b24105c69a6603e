"""Words, literals, dates and likeness of texts: what is found, compared and guarded by. Pure."""
