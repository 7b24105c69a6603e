"""The memory tool of the Anthropic API over a store: its six commands under /memories.

A file there is a note of the store, and nothing else is there. Every write is one commit that
`mdmemory undo` takes back. No command raises: the model is answered in a sentence.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory import unseen
from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.files import read_regular
from mdmemory.layers import actions, capture
from mdmemory.memory import Memory
from mdmemory.note import limits
from mdmemory.store.store import GENERATED, LEDGER, StoredNote, is_note_name

if TYPE_CHECKING:
    from mdmemory.capture.model_files import ModelFile

MOST_LISTED = 500  # notes of one listing
_DERIVED = (*GENERATED, LEDGER)  # read, and written by us alone
_MOST_LINES = 999_999
_AROUND = 2  # lines before and after a change that an answer shows
_FIELDS = tuple(
    "command path view_range file_text old_str new_str insert_line insert_text old_path "
    "new_path".split()
)
Given = Mapping[str, Any]


def _tell_failures(
    command: Callable[[MemoryTool, Given], str],
) -> Callable[[MemoryTool, object], str]:
    """A command of the tool: what it takes as a mapping, what fails as a sentence."""

    @wraps(command)
    def run_told(self: MemoryTool, given: object) -> str:
        try:
            return command(self, _as_mapping(given))
        except Prescribed as answer:
            return str(answer)
        except MdmemoryError as problem:
            return f"Error: {problem.sentences}"

    return run_told


class MemoryTool:
    """Answers what a model asks of the tool `memory`: `handle` takes the input of one call.

    The other methods have the names of the SDK's `BetaAbstractMemoryTool`, whose `register` makes
    its tool runner take the object; each takes a command's fields as a mapping or an object.
    """

    name = "memory"  # of the tool in a request

    def __init__(self, memory: Memory, session: str = "") -> None:
        self._memory, self._session = memory, session
        self._seen: dict[str, str] = {}  # file: its digest as the model saw it last

    @classmethod
    def open(
        cls, path: str | Path = ".", *, store: str | None = None,
        environment: Mapping[str, str] | None = None, session: str = "", **how: Any,
    ) -> MemoryTool:  # fmt: skip
        """The tool for the store of the folder `path`, or the one that `store` names. `session`, an
        id, stands in the commits; `how` is what `Memory` takes. Raises NoStore."""
        how = {"holder": "the memory tool", "automatic": True} | how
        return cls(Memory.open(path, store=store, environment=environment, **how), session)

    def to_dict(self) -> dict[str, str]:
        """The tool as it stands in a request."""
        return {"type": "memory_20250818", "name": self.name}

    def handle(self, input: Given) -> str:
        """The answer to one call, for its tool_result; what fails is said there."""
        return self.execute(input)

    def call(self, input: object) -> str:
        """`handle`, by the name that the SDK's tool runner calls."""
        return self.execute(input)

    def execute(self, command: object) -> str:
        """Do what the field `command` names."""
        known = {
            "view": self.view, "create": self.create, "str_replace": self.str_replace,
            "insert": self.insert, "delete": self.delete, "rename": self.rename,
        }  # fmt: skip
        name = _as_mapping(command).get("command")
        if not isinstance(name, str) or name not in known:
            return f"Error: There is no such command. Use one of: {', '.join(known)}."
        return known[name](command)

    @_tell_failures
    def view(self, given: Given) -> str:
        """The files of /memories, or the lines of one (`view_range`: from 1, -1 is the last)."""
        path = _text_given(given, "path")
        if path.rstrip("/") == ROOT:
            return self._list_files()
        file = path_inside(path)
        if file in self._derived_files():
            text = read_regular(self._memory.project.store / file).decode("utf-8", "replace")
        else:
            gone = f"The path {path} does not exist. Please provide a valid path."
            stored = self._note_of(file, gone)
            self._seen[file], text = stored.digest, stored.note.text
        lines, wanted = text.split("\n"), given.get("view_range")
        if len(lines) > _MOST_LINES:
            raise Prescribed(f"File {path} exceeds maximum line limit of 999,999 lines.")
        pair = [1, -1]
        if wanted is not None:
            is_list = isinstance(wanted, Sequence) and not isinstance(wanted, str)
            pair = list(wanted) if is_list else []
        if len(pair) != 2 or not all(type(each) is int for each in pair):
            raise UsageError("`view_range` is two numbers of lines.", "-1 is the last line.")
        first, last = pair[0], len(lines) if pair[1] == -1 else pair[1]
        if not 1 <= first <= min(last, len(lines)):
            hint = f"The file has {len(lines)} lines."
            raise UsageError(f"Invalid `view_range` parameter: {pair}.", hint)
        return (
            f"Here's the content of {path} with line numbers:\n{number_lines(lines, first, last)}"
        )

    @_tell_failures
    def create(self, given: Given) -> str:
        """A new note. It is unconfirmed: no words of the user's stand behind it."""
        path, text = _text_given(given, "path"), _text_given(given, "file_text")
        file = new_file(path)
        if file in self._memory.opened.fresh().store.files():
            raise Prescribed(f"Error: File {path} already exists")
        about = {"session": self._session, "today": self._memory.opened.today()}
        done = capture.model_files.create_note(self._memory.opened.writer(), file, text, **about)
        self._seen[file] = done.stored.digest
        return f"File created successfully at: {path}{_flagged_line(done)}"

    @_tell_failures
    def str_replace(self, given: Given) -> str:
        """A text that stands in a note exactly once, replaced."""
        path, old = _text_given(given, "path"), _text_given(given, "old_str")
        new, rest = _text_given(given, "new_str", ""), ""

        def replace_once(text: str) -> str:
            nonlocal rest
            places, at = list[int](), text.find(old) if old else -1
            while at >= 0:
                places.append(at)
                at = text.find(old, at + 1)
            if not places:
                raise Prescribed(
                    f"No replacement was performed, old_str `{old}` did not appear verbatim in "
                    f"{path}."
                )
            if len(places) > 1:
                lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places)
                raise Prescribed(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in "
                    f"lines: {lines}. Please ensure it is unique"
                )
            rest = text[places[0] + len(old) :]
            return f"{text[: places[0]]}{new}{rest}"

        done = self._change_file(path, replace_once)
        text = done.stored.note.text
        # the head above it has other lines now; what follows is as it was
        at = len(text) - len(rest) - len(new) if text.endswith(rest) else 0
        first, last = text.count("\n", 0, at) + 1, text.count("\n", 0, at + len(new)) + 1
        snippet = number_lines(text.split("\n"), max(1, first - _AROUND), last + _AROUND)
        edited = "The memory file has been edited. Here is the snippet showing the change:"
        return f"{edited}\n{snippet}{_flagged_line(done)}"

    @_tell_failures
    def insert(self, given: Given) -> str:
        """Lines put behind line `insert_line` of a note; 0 is its beginning."""
        path, more = _text_given(given, "path"), _text_given(given, "insert_text")
        seen = self._seen.get(path_inside(path))

        def insert_lines(text: str) -> str:
            if seen not in (None, self._memory.opened.fresh().store.read(path_inside(path)).digest):
                raise Prescribed(
                    f"Error: The file {path} has changed since you viewed it: view it."
                )
            return insert_text(text, given.get("insert_line"), more)

        done = self._change_file(path, insert_lines)
        return f"The file {path} has been edited.{_flagged_line(done)}"

    @_tell_failures
    def delete(self, given: Given) -> str:
        """A note forgotten; its text stays in history."""
        path = _text_given(given, "path")
        if path.rstrip("/") == ROOT:
            raise Prescribed(f"Error: Cannot delete the {ROOT} directory itself")
        file = self._own_file(path, f"Error: The path {path} does not exist")
        writer = self._memory.opened.writer()
        with writer.lock_recovered():
            capture.model_files.refuse_unsettled(writer, writer.refresher.store.read(file))
        actions.editing.remove_note(writer, file, trailers=self._session_trailers(), by_model=True)
        return f"Successfully deleted {path}"

    @_tell_failures
    def rename(self, given: Given) -> str:
        """A note under another name; the links to it follow, and the old name stays an alias."""
        old, new = _text_given(given, "old_path"), _text_given(given, "new_path")
        file = self._own_file(old, f"Error: The path {old} does not exist")
        name = limits.slugify(new_file(new).removesuffix(".md"))
        writer, trailers = self._memory.opened.writer(), self._session_trailers()
        rename = actions.renaming.rename_note
        try:
            done = rename(writer, file, name, trailers=trailers, by_model=True)
        except MdmemoryError as problem:
            if problem.code != "taken":
                raise
            raise Prescribed(f"Error: The destination {new} already exists") from None
        return f"Successfully renamed {old} to {ROOT}/{done.edited.file}"

    # --- the store

    def _change_file(self, path: str, changed: Callable[[str], str]) -> ModelFile:
        gone = f"Error: The path {path} does not exist. Please provide a valid path."
        file = self._own_file(path, gone)
        about = {"session": self._session, "today": self._memory.opened.today()}
        writer, change = self._memory.opened.writer(), capture.model_files.change_note
        done: ModelFile = change(writer, file, changed, **about)
        self._seen[file] = done.stored.digest
        return done

    def _own_file(self, path: str, gone: str) -> str:
        """The file of a note that a command may change."""
        file = path_inside(path)
        if file in self._derived_files():
            raise Prescribed(f"Error: {path} cannot be changed. {BELONGS}")
        return self._note_of(file, gone).file

    def _note_of(self, file: str, gone: str) -> StoredNote:
        """The note of a file; one on hold, or one that waits for a person, is as none."""
        if file not in self._note_files():
            raise Prescribed(gone)
        return self._memory.opened.fresh().store.read(file)

    def _note_files(self) -> list[str]:
        catalog = (refresher := self._memory.opened.refresher()).catalog()
        hidden = {*catalog.held, *catalog.waiting}
        return [file for file in refresher.store.files() if file not in hidden]

    def _derived_files(self) -> list[str]:
        folder = self._memory.project.store
        return [f for f in _DERIVED if (folder / f).is_file() and not (folder / f).is_symlink()]

    def _list_files(self) -> str:
        self._memory.opened.fresh()  # the index as of now
        folder, files = self._memory.project.store, self._note_files()
        head = f"Here're the files and directories up to 2 levels deep in {ROOT}, excluding hidden"
        rows = [f"{write_size(folder.lstat().st_size)}\t{ROOT}"]
        for file in (*self._derived_files(), *files[:MOST_LISTED]):
            rows.append(f"{write_size((folder / file).lstat().st_size)}\t{ROOT}/{file}")
        if len(files) > MOST_LISTED:
            rows.append(f"({MOST_LISTED} of {len(files)} notes. `view` reads the others, too.)")
        return "\n".join([f"{head} items and node_modules:", *rows])

    def _session_trailers(self) -> list[tuple[str, str]]:
        trailers: list[tuple[str, str]] = capture.forgetting.session_trailer(self._session)
        return trailers


def _as_mapping(given: object) -> Given:
    if isinstance(given, Mapping):
        return given
    return {key: getattr(given, key) for key in _FIELDS if getattr(given, key, None) is not None}


def _text_given(given: Given, key: str, default: str | None = None) -> str:
    value = given.get(key, default)
    if not isinstance(value, str):
        raise UsageError(f"`{key}` is missing or no text.")
    return value


def _flagged_line(done: ModelFile) -> str:
    """A line on the notes that a new text contradicts."""
    if not done.against:
        return ""
    files = ", ".join(f"{ROOT}/{file}" for file in done.against)
    return f"\nIt contradicts {files}. Both stay; only the user settles that: tell them."


# --- paths under /memories, and numbered lines

ROOT = "/memories"
BELONGS = "mdmemory writes this file from the notes: change those."
_ELSEWHERE = "Memory files are markdown notes directly in /memories."
_LONGEST_PATH = 400  # characters


class Prescribed(Exception):
    """Ends a command with a sentence that the API's documentation prescribes."""


def path_inside(path: str) -> str:
    """The file that a path under /memories names; it may be none. A folder's path names no file."""
    rest = path.removeprefix(f"{ROOT}/")
    plain = unicodedata.normalize("NFKC", rest)
    if rest == path or len(path) > _LONGEST_PATH or _leads_out(rest) or _leads_out(plain):
        raise UsageError(f"The path {path[:_LONGEST_PATH]!r} is not under {ROOT}.", _ELSEWHERE)
    return rest


def _leads_out(rest: str) -> bool:
    """Whether a part of a path is more than a name: dots, links of other systems, escapes."""
    is_plain = rest.isprintable() and unseen.without_unseen(rest) == rest
    is_named = not any(part[:1] in ("", ".") for part in rest.split("/"))
    return not is_plain or not is_named or any(char in rest for char in "\\%")


def new_file(path: str) -> str:
    """The file that a path names where none is yet. Raises UsageError with one that can be."""
    file = path_inside(path)
    stem = file.removesuffix(".md")
    name = limits.slugify(stem if file.endswith(".md") else file)
    is_plain = unicodedata.normalize("NFC", file) == file and "/" not in file
    is_free = is_note_name(file) and file.casefold() not in ("memory.md", "readme.md")
    if not name or file.casefold() == "memory.md":
        raise UsageError(f"{path} cannot be written. {BELONGS if name else _ELSEWHERE}")
    if not (is_plain and is_free) or len(stem.encode()) > limits.MAX_NAME_BYTES:
        raise UsageError(f"{path} cannot be a memory file. {_ELSEWHERE}", f"Use {ROOT}/{name}.md")
    return file


def insert_text(text: str, at: object, more: str) -> str:
    lines = text.splitlines(keepends=True)
    if type(at) is not int or not 0 <= at <= len(lines):
        raise Prescribed(
            f"Error: Invalid `insert_line` parameter: {at}. It should be within the range of lines "
            f"of the file: [0, {len(lines)}]"
        )
    end = "\r\n" if "\r\n" in text else "\n"
    before = "".join(lines[:at])
    joint = "" if not before or before.endswith("\n") else end
    return f"{before}{joint}{more}{'' if more.endswith(chr(10)) else end}{''.join(lines[at:])}"


def number_lines(lines: Sequence[str], first: int, last: int) -> str:
    return "\n".join(f"{at:6}\t{line}" for at, line in enumerate(lines[first - 1 : last], first))


def write_size(count: int) -> str:
    """A number of bytes as `du -h` writes it."""
    for unit, power in (("M", 20), ("K", 10)):
        if count >= 1 << power:
            return f"{count / (1 << power):.1f}{unit}"
    return f"{count}B"
