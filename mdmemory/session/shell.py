"""What a shell command's exit code tells about which of its parts. Pure.

Of `cd a && pytest | tail` only `tail` and `cd` are known to have ended well: a pipe gives the exit
code of its last command.
"""

from __future__ import annotations

import re

_TOKENS = re.compile(
    r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|(?P<here><<-?\s*['\"]?\w)|\d?>&[\d-]|&>+"
    r"|(?P<op>&&|\|\||\|&|\||;|\n|&)|[^'\"\\&|;\n<>\d]+|.",
    re.DOTALL,
)
# What runs another program without being what the command is about.
_WRAPPERS = re.compile(
    r"(?:\s+|\w+=(?:'[^']*'|\"[^\"]*\"|[^\s'\"]*)(?=\s|$)"
    r"|(?:sudo|time|nice|nohup|env|exec|command|npx|bunx|uvx|xvfb-run|dotenv)(?:\s+-{1,2}\w\S*)*\s"
    r"|timeout(?:\s+-{1,2}\S+)*\s+[\d.]+[smhd]?\s"
    r"|(?:pnpm|yarn|bun|npm)\s+(?:exec|dlx|x)\s+(?:--\s+)?"
    r"|(?:uv|poetry|pdm|hatch|rye|pipenv|bundle|conda)\s+(?:run|exec)\s(?:\s*-{1,2}\w\S*)*"
    r"|(?:\S*/)?python[\d.]*\s+-m\s+(?=[a-z])|[({]\s*)+"
)
MAX_WRAPPED = 500  # characters that wrappers may take
_FOLDER = re.compile(r"(?:\S*/)(?=(?:bin|scripts)/)(?:bin|scripts)/")


def decisive(command: str) -> tuple[list[str], bool]:
    """The commands, bare of wrappers, whose ends the exit code of a line tells about, in order;
    and whether its success means that each of them succeeded."""
    chain: list[tuple[str, str]] = []  # each command with the operator that stands before it
    before, words = "", ""
    for token in _TOKENS.finditer(command):
        if token["here"]:
            break  # what follows is text
        if token["op"] is None:
            words += token[0]
            continue
        chain.append((before, words))
        before, words = token["op"], ""
    chain.append((before, words))
    chain = [(op, bare(words)) for op, words in chain if words.strip()]
    return _known(chain, "pipefail" in command)


def bare(words: str) -> str:
    """A simple command without assignments, wrappers, and the folder of its program."""
    words = words.strip()
    wrapped = _WRAPPERS.match(words[:MAX_WRAPPED])
    words = words[wrapped.end() :] if wrapped else words
    return _FOLDER.sub("", words, count=1) if _FOLDER.match(words) else words


def _known(chain: list[tuple[str, str]], pipefail: bool) -> tuple[list[str], bool]:
    known: list[str] = []
    certain = True
    for op, words in chain:
        if op in (";", "\n", "&"):
            known, certain = [], True
        elif op in ("|", "|&") and not pipefail and known:
            known.pop()
        certain = certain and op != "||"
        known.append(words)
    return known, certain
