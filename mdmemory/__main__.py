"""`python -P -m mdmemory`: the command line, where no console script is on the path."""

from mdmemory.cli import run

run()
