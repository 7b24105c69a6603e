"""One note: its frontmatter, its text, and how a changed note is written."""
