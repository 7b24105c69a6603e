"""What of the memory goes into a prompt: text within budgets, the same until its next epoch."""
