"""Runs 0.1.0's `compact` and ends the process, without a word, while notes are put in place."""

import os
import sys

from mdmemory.doors.cli import run

steps = 0
LAST = int(os.environ.get("LAST", "8"))


def stopping(call):
    def counted(*given, **named):
        global steps
        steps += 1
        if steps == LAST:
            os._exit(9)
        return call(*given, **named)

    return counted


for name in ("rename", "replace", "link", "unlink"):
    setattr(os, name, stopping(getattr(os, name)))
sys.argv = ["mdmemory", "compact"]
run()
