"""Sessions of several hosts, read as turns: what people and assistants said, nothing else."""
