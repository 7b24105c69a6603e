"""What a person asks of a store: set up, edit, undo, resolve, history, sync, check."""
