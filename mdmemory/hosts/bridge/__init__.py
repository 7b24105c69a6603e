"""The socket bridge: one process for each store that answers the hooks of all its clients."""
