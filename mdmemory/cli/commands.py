"""One table of commands, one place where errors become messages, and what commands print and ask.

Only the module of the command that was asked for is loaded, and only its parser is built: the
time to start is a promise (`make bench`). A command is a function `run_NAME` of its layers and its
options, or of its options alone, and returns the exit code.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module

from mdmemory.cli import options
from mdmemory.errors import MdmemoryError, NotFound, UsageError
from mdmemory.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmemory.memory import Memory
    from mdmemory.store.receipt_box import Receipt


# name, module of this package, what it does; in the order in which help shows them
COMMANDS = (
    ("add", "notes", "store a fact as a note"),
    ("search", "notes", "find the notes that answer a question"),
    ("list", "notes", "list all notes"),
    ("show", "notes", "show one note"),
    ("edit", "notes", "change a note"),
    ("rename", "notes", "rename a note, and the links to it"),
    ("forget", "notes", "remove a note; git keeps its text"),
    ("review", "review", "answer what waits for you, one key each"),
    ("log", "history", "show the history of all notes, of one, or one change"),
    ("undo", "history", "undo a change"),
    ("setup", "setup", "connect your assistants, for all projects"),
    ("init", "setup", "create a store for a project"),
    ("import", "moving", "import the facts of another memory"),
    ("export", "moving", "write all notes as JSON or as markdown"),
    ("move", "moving", "move the store, with its history"),
    ("sync", "moving", "share the notes with your other machines, by git"),
    ("status", "upkeep", "show the store, what waits, and where text is sent"),
    ("doctor", "upkeep", "find problems and their fixes"),
    ("config", "configuring", "list the settings, or change one"),
    ("web", "serving", "show everything in your browser"),
    ("demo", "demo", "show how it works, in a temporary folder"),
    ("extract", "passes", "store the facts that a session holds"),
    ("compact", "passes", "merge duplicates and flag contradictions"),
    ("check", "notes", "check whether the code that the notes cite has changed"),
    ("audit", "upkeep", "find problems in any memory"),
    ("session", "sessions", "list the sessions of your assistants, or show one"),
    ("explain", "passes", "explain why a message would be stored or not"),
    ("index", "upkeep", "update MEMORY.md, or check that it is up to date"),
    ("hook", "serving", "answer an event of an assistant; not for people"),
    ("bridge", "serving", "serve OpenCode's plugin; not for people"),
    ("mcp", "serving", "serve the memory to an MCP client"),
    ("completion", "serving", "complete commands and names with the tab key"),
)
# The first command of each group, and the heading above it. `--help` shows the first two groups.
GROUPS = {"add": "Daily", "setup": "Set-up", "extract": "Passes", "index": "Plumbing"}
_FIRST_GROUPS = 2
# Commands that open no memory, or choose which one.
_WITHOUT_LAYERS = "setup init move sync config web demo hook bridge mcp completion audit".split()
# What people type who know other programs, and what it is called here.
_OTHER_NAMES = dict(
    pair.split(":")
    for pair in (
        "mv:rename rm:forget delete:forget remove:forget ls:list cat:show get:show settings:config "
        "set:config find:search grep:search new:add remember:add revert:undo push:sync "
        "install:setup diff:log history:log"
    ).split()
)


# argparse makes one whenever an option is added, and would load four packages to find its width.
_FORMATTER = partial(argparse.HelpFormatter, width=78)
COMMON = ("help", "store", "json", "verbose")  # options of every command
_EVERYWHERE = "Every command also takes --store PATH, --json, --verbose and --help."
_TOP = """\
usage: mdmemory COMMAND [OPTIONS]

Long-term memory for coding assistants: markdown notes in git.
Start with `mdmemory setup`. `mdmemory demo` shows it in a temporary folder.
"""
_OPTIONS = """
Every command takes these options:
  --store PATH  the store or project to use
  --json        print the answer as JSON
  --verbose     log what is done to standard error
  --help        show how to use the command

`mdmemory --version` prints the version.
"""
_MORE = """
`mdmemory COMMAND --help` shows how to use a command, and `mdmemory --help-all`
lists all commands.
"""


_WORD, _PATH = 80, 255  # characters that a message repeats


class HelpLines(argparse.HelpFormatter):
    """Help in which each line of what is said of an option begins a line."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        split = super()._split_lines
        return [line for given in text.splitlines() for line in split(given, width)]


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors like all others."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise UsageError, where argparse would print the usage and exit."""
        hint = f"`{self.prog} --help` shows the usage."
        if message.startswith("unrecognized"):
            hint = f"Put a text into quotes; {hint}"
        raise UsageError(f"{message[:1].upper()}{message[1:].rstrip('.')}.", hint)


class CommandParser(Parser):
    """The parser of the words behind a command."""

    def format_help(self) -> str:
        """The help by argparse, without the options of every command."""
        for action in self._actions:
            if action.dest in COMMON:
                action.help = argparse.SUPPRESS
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns) - 2
        except (ValueError, OSError):
            columns = 78
        width = min(max(columns, 40), 98)
        self.formatter_class = partial(HelpLines, width=width, max_help_position=26)
        self._positionals.title = self._optionals.title = None  # no headings
        self.epilog = _EVERYWHERE
        return super().format_help()


class TopParser(Parser):
    """The parser of the words before a command, whose help lists the commands in their groups."""

    shows_all = False  # the other groups, too

    def format_help(self) -> str:
        """The commands of each group with what they do."""
        last = None if self.shows_all else [*GROUPS][_FIRST_GROUPS]
        lines = []
        for name, _, what in COMMANDS:
            if name == last:
                break
            lines += ["", f"{GROUPS[name]}:"] if name in GROUPS else []
            lines.append(f"  {name:<10}  {what}")
        return _TOP + "\n".join([*lines, ""]) + (_OPTIONS if self.shows_all else _MORE)


def discard_output() -> None:
    """Discard further output: its reader is gone, and Python would report that at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(words: Sequence[str]) -> int:
    """Run a command; return the exit code: 0 ok, 1 refused or failed, 2 usage, 3 unexpected."""
    wants_json = "--json" in words
    try:
        return _dispatch_words(words)
    except MdmemoryError as problem:
        for word in {*words, *(each.partition("=")[2] for each in words)}:
            most = _PATH if "/" in word else _WORD
            for shown in (word, repr(word)[1:-1]) if len(word) > most else ():
                problem.message = problem.message.replace(shown, f"{shown[:most]}…")
        _print_problem(problem, wants_json)
        return problem.exit_code
    except BrokenPipeError:
        discard_output()
        return 1
    except KeyboardInterrupt:
        print("mdmemory: interrupted; nothing is half done.", file=sys.stderr)
        return 130
    except Exception as problem:  # noqa: BLE001 - the last resort: a sentence and a log, no traceback
        disk = problem if isinstance(problem, OSError) else OSError()
        if disk.errno == errno.ENOSPC and disk.filename is None:  # of the output, no file of ours
            discard_output()
            return report_unwritten(disk)
        path = record_traceback(problem, words)
        sentence = f"Unexpected error ({type(problem).__name__})."
        _print_problem(MdmemoryError(sentence, f"Details: {path}.", "unexpected"), wants_json)
        return 3


def report_unwritten(problem: OSError) -> int:
    """Say that the last output could not be written; the exit code."""
    hint = "Free some space and run it again; changes already made are kept."
    _print_problem(MdmemoryError(f"The output cannot be written: {problem.strerror}.", hint), False)
    return 1


def _dispatch_words(words: Sequence[str]) -> int:
    top = top_parser()
    first = top.parse_args(words)
    if first.help_all:
        top.shows_all = True
        top.print_help()
        return 0
    if (name := first.command) is None:
        top.print_help()
        return 2
    if name == "help":  # what other programs have
        return _dispatch_words([*words[words.index(name) + 1 :], "--help"])
    module = next((module for command, module, _ in COMMANDS if command == name), None)
    if module is None:
        import difflib  # only for this message

        names = [command for command, _, _ in COMMANDS]
        known = _OTHER_NAMES.get(name.lower())
        near = [known] if known else difflib.get_close_matches(name, names, 1)
        lists = "`mdmemory --help` lists the commands."
        hint = f"Did you mean `mdmemory {near[0]}`?" if near else lists
        raise UsageError(f"Unknown command: {name}.", hint)
    try:
        os.getcwd()
    except FileNotFoundError as problem:
        raise NotFound(
            "The current folder was removed.", "Change to another one: `cd`."
        ) from problem
    parser = command_parser(name)
    parser.set_defaults(store=first.store, json=first.json, verbose=first.verbose, holder=name)
    at = words.index(name)
    if at and words[at - 1] == "--store":  # a store of the same name
        at = words.index(name, at + 1)
    chosen = _parse_words(parser, words[at + 1 :])  # with any `--`, which argparse would drop
    if chosen.verbose:
        begin_logging()
    command = getattr(import_module(f"mdmemory.cli.{module}"), f"run_{name}")
    if name in _WITHOUT_LAYERS:
        return int(command(chosen))

    return int(command(open_layers(chosen), chosen))


def command_parser(name: str) -> Parser:
    """The parser of the words behind a command."""
    parser = CommandParser(prog=f"mdmemory {name}", formatter_class=_FORMATTER)
    parser.add_argument("--store", metavar="PATH", help="the store or project to use")
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    parser.add_argument("--verbose", action="store_true", help="log what is done to standard error")
    add_options = getattr(options, f"{name}_options")
    add_options(parser)
    parser.description = add_options.__doc__
    show = _FORMATTER(prog=name)._format_args
    words = [
        show(each, each.dest).replace(" ...", "…") for each in parser._get_positional_actions()
    ]
    parser.usage = " ".join([f"{parser.prog} [OPTIONS]", *words])
    return parser


def _parse_words(parser: Parser, rest: Sequence[str]) -> argparse.Namespace:
    """What the words mean. argparse mixes options and words only where no `--` says that what
    follows are words; so those that begin with a dash are hidden from it."""
    at = rest.index("--") if "--" in rest else len(rest)
    hidden = {f"\0{n}": word for n, word in enumerate(rest[at + 1 :]) if word.startswith("-")}
    behind = [f"\0{n}" if f"\0{n}" in hidden else word for n, word in enumerate(rest[at + 1 :])]
    chosen = parser.parse_intermixed_args([*rest[:at], *behind])
    for name, value in vars(chosen).items():
        if isinstance(value, list):
            setattr(chosen, name, [hidden.get(word, word) for word in value])
        elif isinstance(value, str):
            setattr(chosen, name, hidden.get(value, value))
    return chosen


def top_parser() -> TopParser:
    """The parser of what stands before a command."""
    parser = TopParser(prog="mdmemory", formatter_class=_FORMATTER)
    parser.add_argument("--version", action="version", version=f"mdmemory {VERSION}")
    parser.add_argument("--store", metavar="PATH", help="the store or project to use")
    parser.add_argument("--help-all", action="store_true", help="show every command")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--verbose", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def begin_logging(place: str = "1") -> None:
    """Log from now on: to standard error ("1"), or to the end of a file of this name.

    A file that cannot be opened is one sentence on standard error, and nothing is logged.
    """
    import logging
    import time

    from mdmemory import debugging

    if debugging.logger:
        return
    handler = logging.StreamHandler()
    if place not in ("1", "stderr"):
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:  # for this user alone: names of notes are the person's
            handle = os.open(os.path.expanduser(place), flags | os.O_NONBLOCK, 0o600)
        except OSError as problem:
            print(f"mdmemory: MDMEMORY_DEBUG: {problem.strerror}: {place}.", file=sys.stderr)
            return
        stream = open(handle, "a", encoding="utf-8", errors="replace")  # noqa: SIM115 - to the end
        handler.setStream(stream)
    lines = logging.Formatter("%(asctime)s mdmemory[%(process)d] %(message)s")
    lines.converter = time.gmtime
    lines.default_time_format, lines.default_msec_format = "%Y-%m-%dT%H:%M:%S", "%s.%03dZ"
    handler.setFormatter(lines)
    logger = logging.getLogger("mdmemory")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    debugging.logger = logger


def _print_problem(problem: MdmemoryError, wants_json: bool) -> None:
    if wants_json:
        import json

        error = {"code": problem.code, "message": problem.message, "hint": problem.hint}
        print(json.dumps({"error": error}, ensure_ascii=False))
    print(f"mdmemory: {problem.sentences}", file=sys.stderr)


def record_traceback(problem: Exception, words: Sequence[str]) -> str:
    """Write the traceback to error.log and return its path. It holds no text of notes."""
    import platform
    import traceback

    from mdmemory.config.person import state_folder

    path = state_folder() / "error.log"
    lines = [
        f"mdmemory {VERSION}, Python {platform.python_version()}, {platform.system()}",
        f"command: {words[0] if words else ''}",
        *traceback.format_exception(problem),
    ]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines), encoding="utf-8")
    except OSError:
        return os.devnull
    return str(path)


# --- what commands print and ask

NO_STORE_YET = (
    'There is no store yet. The first "Remember that ..." in a project makes one, or '
    "`mdmemory init`."
)
UNDO = "Undo: `mdmemory undo {}`."
PATIENCE = 30.0  # seconds that a person's command waits for other writers
LISTED = 200  # citations or problems that are listed; the rest is counted

_WRITING = "add edit rename forget extract compact import sync".split()


def open_layers(options: Namespace, *, automatic: bool = False, watched: bool = False) -> Memory:
    """The layers that the command uses; `automatic`: no person typed the command, as its options
    may say, too; `watched`: it keeps the indexes up to date by itself.

    A person's command waits longer for other writers and says so at a terminal. A command that
    writes first stores earlier requests that could not be stored then.
    """
    from mdmemory.git.lock import Patience
    from mdmemory.memory import Memory

    # git started us (a hook, its editor): no branch may move while it waits
    automatic |= "GIT_PREFIX" in os.environ or "GIT_INDEX_FILE" in os.environ
    automatic |= getattr(options, "if_due", False) or getattr(options, "after", 0) > 0
    waiting = warn_person if sys.stderr.isatty() else lambda _: None
    layers = Memory.around(
        ".", store=options.store, holder=f"`mdmemory {options.holder}`", tell=warn_person,
        automatic=automatic, patience=None if automatic else Patience(PATIENCE, waiting),
        watched=watched,
    )  # fmt: skip
    is_writing = options.holder in _WRITING and not getattr(options, "dry_run", False)
    if is_writing and (done := layers.settle_wishes()):
        from mdmemory.prompt import lines
        from mdmemory.store.receipt_box import Receipt

        line = lines.of_as_said(done)
        warn_person(line["message"] if line else "What was asked for earlier is known already.")
        if automatic and line:  # nobody reads that: the person's next client tells them
            receipt = Receipt(line["message"], {"learned": len(done)}, "success")
            leave_receipt(layers.main, receipt)
    return layers


def only_memory(layers: Memory) -> Memory:
    """The one memory that a command uses that does not know layers: the project's, else the
    person's. Raises NoStore, also where it is not certain whose store the project's is."""
    if layers.question is not None:
        raise layers.question
    return layers.main


def leave_receipt(memory: Memory, receipt: Receipt | None) -> None:
    """Leave a receipt for the person's next client; without a place for it the log has to do."""
    from mdmemory.store import receipt_box

    if receipt is not None:
        with suppress(MdmemoryError):
            receipt_box.leave_receipt(memory.project, receipt, memory.now())


def emit_json(value: Any) -> None:
    """Print one JSON value to standard output."""
    print(indent_json(value))


def indent_json(value: Any) -> str:
    """What `json.dumps(value, ensure_ascii=False, indent=2)` gives. A table, which is a list of
    dicts of plain values, takes a fifth of the time: Python writes indented JSON slowly, and JSON
    on one line quickly."""
    import json  # most answers are for people

    is_table = value and isinstance(value, list)
    is_table = is_table and all(isinstance(row, dict) and row for row in value)
    if not is_table or not {type(each) for row in value for each in row.values()} <= _PLAIN:
        return json.dumps(value, ensure_ascii=False, indent=2)
    # all that JSON itself breaks a line for stands between two values, and never in a text
    rows = json.dumps(value, ensure_ascii=False, separators=(",\n    ", ": "))[2:-2]
    rows = rows.replace("},\n    {", "\n  },\n  {\n    ")
    return f"[\n  {{\n    {rows}\n  }}\n]"


_PLAIN = {str, int, float, bool, type(None)}


def warn_person(sentence: str) -> None:
    """Print one sentence to standard error."""
    print(f"mdmemory: {sentence}", file=sys.stderr)


def visible_text(text: str) -> str:
    """`text` with control characters replaced by U+FFFD; line ends stay."""
    from mdmemory.unseen import CONTROL

    return CONTROL.sub("\ufffd", text)


def in_utc(time: str) -> str:
    """The day and minute of an ISO time, for a person; "-" for none."""
    from datetime import UTC, datetime

    return f"{datetime.fromisoformat(time).astimezone(UTC):%Y-%m-%d %H:%M} UTC" if time else "-"


def show_value(options: Namespace, value: Any, *lines: str, failed: bool = False) -> int:
    """Print the value as JSON where it is asked for, else the lines, if there are any; the exit
    code."""
    if options.json:
        emit_json(value)
    elif lines:
        print("\n".join(lines))
    return int(failed)


def ask_person(question: str) -> str | None:
    """What the person at the terminal answers; None where nobody does."""
    try:
        return input(f"{question} ").strip()
    except EOFError:
        return None


def agrees_to(question: str) -> bool:
    """Whether the person at the terminal says yes, or nothing but Enter."""
    answer = ask_person(f"{question} [Y/n]")
    return answer is not None and answer.casefold() in ("", "y", "yes")


def choose_number(question: str, count: int) -> int | None:
    """Which of `count` things, from 0, the person at the terminal names by its number; None for
    none of them."""
    answer = ask_person(f"{question} [1-{count}, none]") or ""
    return int(answer) - 1 if answer.isdecimal() and 0 < int(answer) <= count else None


def is_terminal() -> bool:
    """Whether standard input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def count_noun(count: int, noun: str) -> str:
    """`1 note`, `2 notes`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
