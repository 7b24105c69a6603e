"""Sends a message to the hooks of an assistant, as its client does, and prints what is shown.

`said.py HOST NUMBER` takes the message from standard input, in the folder of the project; NUMBER is
its place in the session. No process is left behind, and no time counts: on a busy machine a real
hook would keep the message for later.
"""

import sys
from pathlib import Path

from commands_host import CommandHost, shown


def said(host: str, number: int, words: str) -> str:
    """What the person is shown, "" or a line with its end."""
    client = CommandHost(host, Path.cwd(), number=number - 1)
    line = shown(client.say(words)) or shown(client.stop())  # the assistant called no tool
    return f"{line}\n" if line else ""


if __name__ == "__main__":
    print(said(sys.argv[1], int(sys.argv[2]), sys.stdin.read()), end="")
