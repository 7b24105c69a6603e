"""The options of every command, in the order of `--help-all`; what a command is for stands in the
docstring of its function.

Nothing heavy is imported here: help shows these, and loads no command.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Parser = argparse._ActionsContainer
SESSIONS = 100  # sessions that are listed; reading a thousand long ones takes seconds
CHANGES = 100  # changes of a log, unless more are asked for
IDLE = 30.0  # minutes until `web` ends
MAX_WAIT = 3600  # seconds that `extract` may be told to wait
# what `completion` prints, and where it lies below the prefix of an installed mdmemory
PLACES = {
    "bash": "share/bash-completion/completions/mdmemory",
    "zsh": "share/zsh/site-functions/_mdmemory",
    "fish": "share/fish/vendor_completions.d/mdmemory.fish",
    "man": "share/man/man1/mdmemory.1",
}


def flag(parser: Parser, names: str, about: str) -> None:
    """Add an option without a value; `names` are what it can be written as, with blanks between."""
    parser.add_argument(*names.split(), action="store_true", help=about)


def value(parser: Parser, name: str, metavar: str, about: str, **more: Any) -> None:
    """Add an option with a value, or a word."""
    parser.add_argument(name, metavar=metavar, help=about, **more)


def number_reader(
    least: float, most: float, kind: type[int] | type[float] = int
) -> Callable[[str], float]:
    """What reads the number of an option, for argparse."""

    def read(text: str) -> float:
        with suppress(ValueError):
            if least <= (number := kind(text)) <= most:
                return number
        what = "a whole number" if kind is int else "a number"
        raise argparse.ArgumentTypeError(f"{text} is not {what} from {least} to {most}")

    return read


# --- daily


def add_options(parser: Parser) -> None:
    """Store a fact as a note, in one commit. Type, name and description come from the sentence,
    or you give all three, with the text as BODY (without it, your editor opens).

    Facts about you, and facts for all projects, go to your own store, all others to the project's.
    """
    from mdmemory.note.limits import TYPES

    parser.add_argument(
        "text", metavar="TEXT", help="the fact as a sentence (- reads standard input), or a name "
        "such as prefers-pnpm, together with --type and --description",
    )  # fmt: skip
    parser.add_argument("--type", default="", help=f"{', '.join(TYPES)} (default: from the text)")
    value(parser, "--description", "LINE", "one line, shown in the index", default="")
    parser.add_argument("--name", default="", help="the note's name (default: from the text)")
    value(parser, "--why", "REASON", "its reason, the last line of the note", default="")
    about = "decision, for a note of the type project"
    value(parser, "--kind", "KIND", about, default="", choices=["decision"])
    flag(parser, "--everywhere", "store it in your own store, for all projects")
    about = "a place in the project that it is about; repeatable"
    value(parser, "--cite", "PATH[#L10-L20]", about, action="append", default=[])
    about = "a note that it replaces; repeatable"
    value(parser, "--replaces", "NAME", about, action="append", default=[])
    value(parser, "body", "BODY", "the note's text (- reads standard input)", nargs="*")


def search_options(parser: Parser) -> None:
    """Find the notes that answer a question, best first."""
    value(parser, "query", "QUERY", "words, or a question", nargs="+")
    about = "show at most N results (default 6)"
    value(parser, "-k", "N", about, type=number_reader(1, 1000), default=6)
    parser.add_argument("--source", default="memory",
                        choices=["memory", "sessions", "files", "observations", "all"],
                        help="memory: the notes (default)\nsessions: the sessions of this "
                        "project\nfiles: the folders of the setting search.folders\n"
                        "observations: what tools showed\nall: notes, sessions and files"
                        )  # fmt: skip
    value(parser, "--at", "REV", "search the notes as they were at a commit")
    flag(parser, "--all-projects", "also search the notes of your other projects")


def list_options(parser: Parser) -> None:
    """List all notes, the project's and your own, sorted by file."""
    flag(parser, "--all-projects", "also list the notes of your other projects")


def show_options(parser: Parser) -> None:
    """Show one note, exactly as in its file."""
    value(parser, "name", "NAME", "the note's name or file")
    flag(parser, "--path", "only print the path of its file")


def edit_options(parser: Parser) -> None:
    """Change a note, in one commit. Without --description and BODY your editor opens. A BODY that
    says anew all that the note says is its description, too."""
    value(parser, "name", "NAME", "the note's name or file")
    value(parser, "--description", "LINE", "the new description")
    value(parser, "body", "BODY", "the new text (- reads standard input)", nargs="?")


def rename_options(parser: Parser) -> None:
    """Give a note another name, in one commit. Links to it are updated, and the old name goes on
    working."""
    value(parser, "name", "NAME", "the note's name or file")
    value(parser, "new", "NEW", "its new name, such as uses-pnpm")


def forget_options(parser: Parser) -> None:
    """Remove a note, and the older notes that it replaced, in one commit. `mdmemory undo` brings
    them back.

    Without the note's name, the notes with these words are shown, and you choose one.
    """
    value(parser, "name", "NAME|QUERY", "the note's name, or words that it has", nargs="+")
    flag(
        parser, "--erase", "also remove its text from the whole git history; this cannot be undone"
    )


def review_options(parser: Parser) -> None:
    """Show what waits for your answer, one item after the other; you answer each with one key.
    With ID and ANSWER, answer one item. `mdmemory undo` takes an answer back."""
    # ACTIONS and KINDS of review.items, which are slow to load
    kinds = (
        "lost, wish, conflict, forget, pending, unconfirmed, orphaned, drifted, refused_op, "
        "on_hold, import_rest"
    )
    value(parser, "id", "ID", "the item, such as p-1a2b3c4d, or a note of it", nargs="?")
    value(parser, "answer", "ANSWER", "keep, this, that, both, edit, drop, later", nargs="?")
    value(parser, "name", "NAME", "the note of a conflict to keep or edit", nargs="?")
    parser.add_argument("--text", help="with edit: the new text (- reads standard input)")
    flag(parser, "--more", "show all facts of a session, not only its best 5")
    value(parser, "--all", "KIND", f"give ANSWER to all items of a kind: {kinds}")


def log_options(parser: Parser) -> None:
    """List the changes to the notes, newest first: all, those of one note, or one change."""
    about = "a note, for all its versions, also one that is gone; or the id of one change"
    value(parser, "what", "NAME|ID", about, nargs="?")
    flag(parser, "-p", "also show what each change did")
    about = f"show the newest N, not {CHANGES}"
    value(parser, "-n", "N", about, type=number_reader(1, 1_000_000))
    flag(parser, "--all", "show every change")
    flag(
        parser, "--captures",
        "instead list the facts found in sessions, and why each was stored or not",
    )  # fmt: skip


def undo_options(parser: Parser) -> None:
    """Undo a change, byte for byte. A file that you edited since then is kept, and named."""
    about = "the id of a change, as `mdmemory log` shows it (default: the newest)"
    value(parser, "id", "ID", about, nargs="?")
    value(parser, "--session", "ID", "undo everything that this session stored")
    flag(parser, "--yes", "do not ask")


# --- set-up


def setup_options(parser: Parser) -> None:
    """Connect your assistants to the memory, for all projects. You can repeat it at any time."""
    # clients.NAMES, which are slow to load
    names = "opencode, claude, codex, gemini, cursor, vscode"
    value(parser, "clients", "CLIENT", f"{names} (default: all that are installed)", nargs="*")
    flag(parser, "--remove", "remove what setup added, and nothing else")
    flag(parser, "--meaning", "only turn on search by meaning, on this machine")
    flag(parser, "--dry-run", "only show what would be written")


def init_options(parser: Parser) -> None:
    """Create a store for the project DIR in your memory folder, or inside the project with
    --here, --shared or --store PATH."""
    value(parser, "dir", "DIR", "the project (default: the current folder)", nargs="?")
    flag(parser, "--here --own-repo", "put the store into the project, with its own repository")
    flag(parser, "--shared", "put the store into the project's repository, for a team")
    value(parser, "--join", "STORE", "use this store of your memory folder for the project")
    about = "create your own store, for all projects, and connect OpenCode to it"
    flag(parser, "--user", about)
    flag(parser, "--opencode", "connect OpenCode, in this project only")
    flag(parser, "--mcp", "with --opencode: use an MCP server, not the plugin")
    flag(parser, "--no-npm", "with --opencode: skip OpenCode's npm install")
    flag(parser, "--dry-run", "with --opencode: only show what would be written")
    flag(parser, "--git-hooks", "install git hooks that keep MEMORY.md up to date")
    flag(parser, "--remove", "remove what init made and added to git and OpenCode, not notes")


def import_options(parser: Parser) -> None:
    """Import the facts of another memory as notes, in one commit. Without --yes, only list them."""
    value(parser, "path", "PATH", "a file or folder of another memory")
    flag(parser, "--yes", "store the facts")
    flag(parser, "--dry-run", "only list the facts, even with --yes")


def export_options(parser: Parser) -> None:
    """Write all notes to standard output as JSON, to one markdown file, or to a folder. Notes on
    hold are left out."""
    about = "write one markdown file instead (- is standard output)"
    what = parser.add_mutually_exclusive_group()
    value(what, "--markdown", "FILE", about)
    value(what, "--okf", "DIR", "write a folder of Open Knowledge Format")


def move_options(parser: Parser) -> None:
    """Move the store and its history, by default out of the project into your memory folder. The
    project's commits stay as they are."""
    about = "home: your memory folder (default); here: a repository of its own inside the project"
    value(parser, "--to", "PLACE", about, choices=("home", "here"), default="home")
    value(parser, "--folder", "PATH", "with --to here: the folder, relative to the project")
    flag(parser, "--dry-run", "only show what would be moved")


def sync_options(parser: Parser) -> None:
    """Share the notes with your other machines: commit, fetch, merge and push, with your own git
    configuration."""
    value(parser, "--remote", "URL", "first set the store's remote")
    flag(parser, "--rebase", "in a project's repository: rebase your commits instead of merging")
    flag(parser, "--all", "in a project's repository: also push commits that are not mdmemory's")


def status_options(_: Parser) -> None:
    """Show the stores, what waits for you, what is due, and where text is sent."""


def doctor_options(parser: Parser) -> None:
    """Find problems of the stores and of your assistants' connection to them, each with its
    fix."""
    flag(parser, "--fix", "first fix what can be fixed safely")


def config_options(parser: Parser) -> None:
    """List the settings that people change most often, or all of them, with their values and where
    each value comes from; or print or set one."""
    choices, about = ("list", "get", "set"), "list (default), get or set"
    value(parser, "action", "ACTION", about, choices=choices, default="list", nargs="?")
    about = "the setting, such as index.max_chars; with list: a part of its name"
    value(parser, "name", "NAME", about, nargs="?")
    value(parser, "value", "VALUE", "its new value (- reads standard input)", nargs="?")
    flag(parser, "--all", "with list: all settings")
    flag(parser, "--unset", "with set: remove the setting from the file")
    about = "with set: write to your own file, for all your projects"
    parser.add_argument("--global", action="store_true", dest="everywhere", help=about)
    flag(parser, "--changed", "with list: only settings that are not at their default")


def web_options(parser: Parser) -> None:
    """Show the inbox, all notes, their history, search and problems in your browser. Only you, on
    this machine, can open the address. Ctrl-C ends it."""
    about = "the port (default: a free one)"
    value(parser, "--port", "N", about, type=number_reader(0, 65535), default=0)
    flag(parser, "--no-open", "only print the address")
    about = f"end after so many minutes without a request (default {IDLE:g})"
    kind = number_reader(0.001, 1440, float)
    value(parser, "--idle", "MINUTES", about, type=kind, default=IDLE)


def demo_options(parser: Parser) -> None:
    """Show how notes are stored, indexed, merged, replaced and undone, in a temporary folder. Your
    own notes and settings are not touched."""
    value(parser, "dir", "DIR", "an empty folder (default: a new temporary one)", nargs="?")


# --- passes


def extract_options(parser: Parser) -> None:
    """Store the facts that a session holds, in one commit.

    What you asked to remember is always stored. Only a model finds other facts, if you chose one.
    Each message is read once, unless you say --again.
    """
    parser.add_argument(
        "--transcript", metavar="FILE", help="the output of `opencode export`, a session file of "
        "an assistant, or text with `User:` and `Assistant:` (- reads standard input)",
    )  # fmt: skip
    value(parser, "--session", "ID", "a session of this project, as `mdmemory session` shows it")
    flag(parser, "--all-projects", "with --session: a session of any project")
    parser.add_argument(
        "--after", metavar="SECONDS", type=number_reader(0, MAX_WAIT, float), default=0.0,
        help="copy the session now, read the copy after so many seconds, then compact if that "
        "is due",
    )  # fmt: skip
    flag(parser, "--again", "let a model read what it has read already, too")
    flag(parser, "--dry-run", "store nothing, only show what would be stored")


def compact_options(parser: Parser) -> None:
    """Merge duplicates and flag contradictions, in one commit that `mdmemory undo` takes back.

    If you chose a model, it makes the plan; --dry-run asks it, too.
    """
    flag(parser, "--if-due", "do nothing unless a compaction is due")
    flag(parser, "--dry-run", "change nothing, only show the plan")
    flag(parser, "--offline", "make the plan without a model")
    flag(parser, "--all", "send the model all notes, not only new ones")
    value(parser, "--plan", "FILE", "apply the plan in this JSON file (- reads standard input)")


def check_options(parser: Parser) -> None:
    """Check whether the code that the notes cite has changed.

    The exit code is 1 if something was changed or removed. Nothing is written, and no model is
    asked.
    """
    value(parser, "names", "NAME", "check only these notes (default: all)", nargs="*")
    parser.add_argument(
        "--diff", metavar="REV", help="list only what has changed since this commit, since this "
        "branch left REV, or with HEAD what is not committed yet",
    )  # fmt: skip
    flag(parser, "--all", "also list what has not changed")


def audit_options(parser: Parser) -> None:
    """Find secrets, orders, duplicates, contradictions and dead links in any memory, and change
    nothing. The exit code is 1 if there are any."""
    parser.add_argument(
        "path", metavar="PATH", help="a folder of notes, a project with CLAUDE.md, AGENTS.md or "
        "GEMINI.md, one such file, or the JSON of another memory",
    )  # fmt: skip
    flag(
        parser,
        "--model",
        "also let the model of your settings find what says the same in other "
        "words, and what cannot both be true; the memory's text is sent to it",
    )


def session_options(parser: argparse.ArgumentParser) -> None:
    """List this project's sessions in OpenCode, Claude Code, Codex and Gemini CLI, with the number
    of messages that mdmemory has not read; or show what it keeps about one: its memory, and the
    observations of what tools showed in it."""
    about = "show a session, a shortened output (o-...), or the observation with this number"
    value(parser, "id", "ID", about, nargs="?")
    flag(parser, "--all", f"list all, not only the newest {SESSIONS}")
    flag(parser, "--all-projects", "list the sessions of all projects")
    what = parser.add_mutually_exclusive_group()
    flag(what, "--sweep", "delete old session data")
    value(what, "--forget", "NUMBERS", "delete observations, such as 12 or 12,14-16")
    flag(what, "--work", "summarize the tool uses that wait, and the session ID")


def explain_options(parser: Parser) -> None:
    """Explain why a message would be stored or not, and which notes would be sent along with it.
    Nothing is stored."""
    value(parser, "text", "TEXT", "a message, as you would type it to an assistant", nargs="+")


# --- plumbing


def index_options(parser: Parser) -> None:
    """Update MEMORY.md from the notes, and commit notes that you or a program changed."""
    flag(parser, "--check", "write nothing; exit code 1 if it is out of date")
    flag(parser, "--rebuild", "make MEMORY.md and the search database anew")


def hook_options(parser: Parser) -> None:
    """Answer an event of an assistant, given as JSON on standard input. Not for people.

    `mdmemory setup` writes this command into the assistants' configurations. It ends within two
    seconds and never fails. It does nothing if MDMEMORY_DISABLE is set.
    """
    from mdmemory.hosts.bridge.client import HOSTS

    value(parser, "host", "HOST", ", ".join(HOSTS), nargs="?")


def bridge_options(parser: Parser) -> None:
    """Serve OpenCode's plugin with lines of JSON, until the input ends. Not for people.

    It ends at once if MDMEMORY_DISABLE is set.
    """
    flag(parser, "--listen", "serve the hooks of the other assistants, at a socket")


def mcp_options(parser: Parser) -> None:
    """Serve the memory to an MCP client over standard input and output.

    `mdmemory setup` writes this command into the client's configuration. It ends at once if
    MDMEMORY_DISABLE is set.
    """
    flag(parser, "--no-index", "leave the index out, because a hook gives it")


def completion_options(parser: Parser) -> None:
    """Print a script that lets the tab key complete commands, options and names of notes, or print
    the manual page."""
    about = (
        "bash, zsh or fish: the script for this shell\nman: the manual page\n"
        "stores: the folders of notes, for the scripts"
    )
    value(parser, "wanted", "WHAT", about, choices=(*PLACES, "stores"))
