"""The store: notes on disk, their history in git, the only writer of commits, and the index."""
