"""Facts out of other memories: each reader turns one format into the same plain values."""
