"""The command line: one table of commands, one place where failures become words.

Only the module of the command that was asked for is loaded, and only its parser is built: the
time to start is a promise (`make bench`).
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from mdmemory.errors import MdmemoryError, NotFound, UsageError
from mdmemory.version import VERSION

# name, module of this package, what it does
COMMANDS = (
    ("init", "setup", "make a project remember: a store, and OpenCode reading it"),
    ("add", "notes", "store a note"),
    ("list", "notes", "all notes, and which of them the index lists"),
    ("show", "notes", "one note in full"),
    ("edit", "notes", "change a note"),
    ("remove", "notes", "remove a note; its text stays in history"),
    ("confirm", "notes", "stand by a note that is unconfirmed"),
    ("index", "upkeep", "bring MEMORY.md up to date, or check that it is"),
    ("explain", "passes", "why a message would, or would not, be remembered"),
    ("extract", "passes", "store what deserves a note in a session"),
    ("pending", "pending", "facts that lack proof and wait for you: accept or drop them"),
    ("session", "sessions", "the sessions of this project, and how far each was read"),
    ("observe", "observing", "what the assistant's tools showed: list, search, recall, add"),
    ("compact", "passes", "merge duplicates and flag contradictions, in one revertible commit"),
    ("conflicts", "conflicts", "contradictions that wait for you, and settling them"),
    ("search", "search", "find the notes that answer a question"),
    ("get", "search", "read a note, or some lines of it"),
    ("rebuild", "search", "make MEMORY.md and the search database anew"),
    ("watch", "search", "keep both fresh while you edit notes"),
    ("log", "history", "what was done to the notes"),
    ("diff", "history", "what one of these changes did"),
    ("history", "history", "the life of one note, with its text at each point"),
    ("undo", "history", "take a change back"),
    ("sync", "sync", "commit the notes, fetch, merge, push"),
    ("status", "upkeep", "the store at a glance, and where text goes"),
    ("doctor", "upkeep", "what may be wrong, and how to mend it"),
    ("trust", "trust", "let models read the protocol that this project edited"),
    ("export", "moving", "all notes as JSON, or as one markdown file"),
    ("import", "moving", "bring in the facts of another memory, in one commit"),
    ("mcp", "hosting", "give an MCP host (Claude Code, Cursor...) the memory as tools"),
    ("bridge", "serving", "what OpenCode's plugin talks to; not for people"),
    ("demo", "demo", "watch all of it happen in a temporary folder"),
)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors like all others."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise UsageError instead of printing the whole usage and leaving."""
        raise UsageError(f"{message[:1].upper()}{message[1:]}.", f"`{self.prog} --help` shows how.")


def run() -> None:
    """The console script."""
    _speak_utf8()
    _open_what_is_closed()
    if place := os.environ.get("MDMEMORY_DEBUG"):
        from mdmemory.cli.verbose import begin

        begin(place)
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go()
    except OSError as problem:  # what was said last did not get out
        _let_go()
        code = _unwritten(problem)
    sys.exit(code)


def _speak_utf8() -> None:
    """Begin again where the locale has another encoding: names and texts of notes are UTF-8, and
    Python asks the locale once, at its start. A flag, because a variable would reach the person's
    editor and git.
    """
    if sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _open_what_is_closed() -> None:
    """A stream that our caller closed (`<&-`) is an empty one: Python has None in its place, and
    the next file that is opened would take its number."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            while os.open(os.devnull, os.O_RDWR) < number:
                pass
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: SIM115 - till the end


def _let_go() -> None:
    """Whoever read our output has left; without this Python would complain of it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(words: Sequence[str]) -> int:
    """Do what the words say; the exit code (0 ok, 1 refused or failed, 2 usage, 3 unexpected)."""
    wants_json = "--json" in words
    try:
        return _dispatch(words)
    except MdmemoryError as problem:
        _complain(problem, wants_json)
        return problem.exit_code
    except BrokenPipeError:
        _let_go()
        return 1
    except KeyboardInterrupt:
        print("mdmemory: interrupted; nothing is half done.", file=sys.stderr)
        return 130
    except OSError as problem:
        if problem.errno == errno.ENOSPC and problem.filename is None:
            _let_go()
            return _unwritten(problem)
        return _unexpected(problem, words, wants_json)
    except Exception as problem:  # noqa: BLE001 - the last resort: a sentence and a log, no trace
        return _unexpected(problem, words, wants_json)


def _unwritten(problem: OSError) -> int:
    hint = "Make room there, and run it again: what was done stays done."
    _complain(MdmemoryError(f"The answer cannot be written: {problem.strerror}.", hint), False)
    return 1


def _dispatch(words: Sequence[str]) -> int:
    top = _top()
    asked = top.parse_args(words)
    if asked.command is None:
        top.print_help()
        return 2
    module = next((module for name, module, _ in COMMANDS if name == asked.command), None)
    if module is None:
        raise UsageError(f"There is no command {asked.command}.", _nearest(asked.command))
    try:
        os.getcwd()
    except FileNotFoundError as problem:
        raise NotFound("The folder you are in was removed.", "Go to another: `cd`.") from problem
    room = import_module(f"mdmemory.cli.{module}")
    parser = Parser(prog=f"mdmemory {asked.command}")
    parser.add_argument("--store", metavar="PATH", help="the store, or a project root",
                        default=asked.store)  # fmt: skip
    parser.add_argument("--json", action="store_true", default=asked.json, help="answer in JSON")
    parser.add_argument("--verbose", action="store_true", default=asked.verbose,
                        help="say on standard error what is done")  # fmt: skip
    # `import` is a word of Python's own, so its function has another name
    command = getattr(room, asked.command, None) or getattr(room, f"{asked.command}_")
    getattr(room, f"{asked.command}_options")(parser)
    parser.description = command.__doc__
    asked = _parsed(parser, _after(words, asked.command))
    if asked.verbose:
        from mdmemory.cli.verbose import begin

        begin()
    return int(command(asked))


def _parsed(parser: Parser, rest: Sequence[str]) -> argparse.Namespace:
    """What the words mean. argparse mixes options and words only where no `--` says that what
    follows are words; so those that begin with a dash are hidden from it."""
    at = rest.index("--") if "--" in rest else len(rest)
    hidden = {f"\0{n}": word for n, word in enumerate(rest[at + 1 :]) if word.startswith("-")}
    behind = [f"\0{n}" if f"\0{n}" in hidden else word for n, word in enumerate(rest[at + 1 :])]
    asked = parser.parse_intermixed_args([*rest[:at], *behind])
    for name, value in vars(asked).items():
        if isinstance(value, list):
            setattr(asked, name, [hidden.get(word, word) for word in value])
        elif isinstance(value, str):
            setattr(asked, name, hidden.get(value, value))
    return asked


def _after(words: Sequence[str], command: str) -> list[str]:
    """What follows the command. argparse itself would take a `--` out of it."""
    at = words.index(command)
    if at and words[at - 1] == "--store":  # a store of the same name
        at = words.index(command, at + 1)
    return [*words[at + 1 :]]


def _top() -> Parser:
    width = max(len(name) for name, _, _ in COMMANDS)
    listing = "\n".join(f"  {name:<{width}}  {what}" for name, _, what in COMMANDS)
    parser = Parser(
        prog="mdmemory",
        usage="mdmemory [--store PATH] COMMAND ...",
        description="Long-term memory for coding assistants, as markdown notes in git.",
        epilog=f"commands:\n{listing}\n\n`mdmemory COMMAND --help` shows the options of one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"mdmemory {VERSION}")
    parser.add_argument("--store", metavar="PATH", help="the store, or a project root")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--verbose", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _nearest(name: str) -> str:
    import difflib  # only for this message

    near = difflib.get_close_matches(name, [known for known, _, _ in COMMANDS], 1)
    return f"Did you mean `mdmemory {near[0]}`?" if near else "`mdmemory --help` lists them."


def _complain(problem: MdmemoryError, wants_json: bool) -> None:
    if wants_json:
        import json

        error = {"code": problem.code, "message": problem.message, "hint": problem.hint}
        print(json.dumps({"error": error}, ensure_ascii=False))
    print(f"mdmemory: {problem.message} {problem.hint}".rstrip(), file=sys.stderr)


def _unexpected(problem: Exception, words: Sequence[str], wants_json: bool) -> int:
    from mdmemory.cli.crash import record

    path = record(problem, words)
    sentence = f"Something unexpected happened ({type(problem).__name__})."
    _complain(MdmemoryError(sentence, f"The details are in {path}.", "unexpected"), wants_json)
    return 3
