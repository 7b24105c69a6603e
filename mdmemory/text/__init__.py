"""What notes claim: literals, polarity, statements, and where two of them disagree. Pure."""
