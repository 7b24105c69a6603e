"""What a user asked to be remembered and could not be written yet: one markdown file for each.

The files lie in `.inbox/` beside the notes; where the store cannot be had, in a folder of the
person's own. Their text is redacted. A file counts as the user's wish only by its seal: so
none comes along with somebody's repository.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mdmemory.capture.asked import Asked, wishes_in
from mdmemory.capture.extracted import Extracted
from mdmemory.capture.routes import ALL, Route
from mdmemory.capture.triggers import Trigger, holds_everywhere
from mdmemory.config import person
from mdmemory.config.table import DEFAULT_STORE, PROJECT_FILE
from mdmemory.errors import MdmemoryError
from mdmemory.files import digest, read_regular, read_start, write_atomic
from mdmemory.note.limits import MAX_BODY
from mdmemory.store import inbox
from mdmemory.store.project import INBOX, OURS, WISH, Project

_KEYS = ("type", "kind", "session", "turn", "since", "why", "project")


@dataclass(frozen=True, slots=True)
class Wish:
    """`why` is the code of what kept it from being written, `since` a UTC day, `project` the
    project's root where the file lies outside of its store."""

    text: str
    type: str
    kind: str
    session: str
    turn: str
    since: str
    why: str
    project: str = ""

    @property
    def file(self) -> str:
        """The same for the same fact, so that one that is asked for again is kept once."""
        key = f"{self.project}\n{self.type}\n{self.text}"
        return f"{WISH}{digest(key.encode('utf-8', 'replace'))[:12]}{inbox.END}"

    def asked(self) -> Asked:
        """The wish as it was found in its turn."""
        everywhere = holds_everywhere(self.text)
        trigger = Trigger("", self.text, self.type, self.kind, everywhere=everywhere)
        return Asked(self.turn, self.text, trigger, "")


@dataclass(frozen=True, slots=True)
class Inbox:
    """A folder of wishes. The key in the file `key_file` seals them, and is made with the first
    wish; where it cannot be had, wishes are kept all the same, and wait for a person."""

    folder: Path
    key_file: Path
    project: str = ""

    def put(self, asked: Sequence[Asked], session: str, since: str, why: str) -> list[Path]:
        """Keep what was asked for. Raises Unwritable, RepositoryState for a link in its place."""
        inbox.prepare(self.folder)
        key = _made_key(self.key_file)
        paths = []
        for each in asked:
            trigger = each.trigger
            wish = Wish(
                each.text, trigger.type, trigger.kind, session, each.turn, since, why, self.project
            )
            path = self.folder / wish.file
            write_atomic(path, _rendered(wish, key), mode=0o600)
            paths.append(path)
        return paths

    def wishes(self) -> list[tuple[Path, Wish]]:
        """The wishes of this project, the oldest first. What is no file of ours is passed over."""
        return sorted(self._wishes(), key=lambda pair: (pair[1].since, pair[0].name))

    def kept(self) -> list[Path]:
        """The files of this project's wishes, also of those that only a person can settle."""
        if not self.project:
            return self.files()
        return [path for path, _ in self.wishes()]

    def files(self) -> list[Path]:
        """The files that look like wishes, without reading them."""
        return inbox.files(self.folder, WISH)

    def _wishes(self) -> Iterator[tuple[Path, Wish]]:
        files = self.files()
        key = _key(self.key_file) if files else b""
        for path in files:
            try:
                wish = _read(read_regular(path), key)
            except MdmemoryError:
                continue
            if wish is not None and wish.project == self.project:
                yield path, wish


def _made_key(file: Path) -> bytes:
    """The person's key for seals, made where there is none; b"" where it cannot be had."""
    try:
        if not file.exists():
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomic(file, os.urandom(32).hex().encode("ascii"), replace=False, mode=0o600)
    except (OSError, MdmemoryError):
        pass  # another process was quicker, or the disk is full: what there is counts
    return _key(file)


def _key(file: Path) -> bytes:
    """The person's key for seals; b"" where there is none."""
    try:
        return read_regular(file, 200)
    except MdmemoryError:
        return b""


# --- where the inboxes lie -----------------------------------------------------------------------


def inboxes(project: Project) -> list[Inbox]:
    """The inboxes of a project: the store's own first, then the person's."""
    stores, persons = project.inboxes()
    key = persons.with_name("inbox.key")
    root = _root(project.around) if project.around else project.root
    return [Inbox(stores, key), Inbox(persons, key, os.path.realpath(root))]


def inbox_without_store(start: Path) -> Inbox:
    """The nearest inbox for a folder whose store cannot be opened: that of the usual store where it
    is there and ours, else the person's."""
    root, own = _root(start), person.state_folder()
    store = root / DEFAULT_STORE
    try:
        is_ours = read_start(store / "MEMORY.md", len(OURS)) == OURS
    except MdmemoryError:
        is_ours = False
    if is_ours and os.path.realpath(store) == os.path.join(os.path.realpath(root), DEFAULT_STORE):
        return Inbox(store / INBOX, own / "inbox.key")
    return Inbox(own / "inbox", own / "inbox.key", os.path.realpath(root))


def _root(start: Path) -> Path:
    """The folder of the settings file upward, else the repository's top, else `start` itself."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if os.path.lexists(folder / PROJECT_FILE) or os.path.lexists(folder / ".git"):
            return folder
    return start


def put_by(
    places: Sequence[Inbox], text: str, session: str, turn: str, today: str,
    failure: MdmemoryError, *, only_long: bool = False, route: Route = ALL,
) -> Extracted:  # fmt: skip
    """Put the wishes of a message into the first of the inboxes that takes them: `kept` names the
    files, and where none takes them `failure` says why. `only_long`: only those that do not fit
    into a note."""
    done = Extracted(session, failure=failure)
    wishes = wishes_in(text, turn, route)
    if only_long:
        wishes = [each for each in wishes if len(each.text) > MAX_BODY]
    for place in places if wishes else ():
        try:
            done.kept = [str(path) for path in place.put(wishes, session, today, failure.code)]
            done.failure = failure
            break
        except MdmemoryError as problem:
            done.failure = problem
        except OSError as problem:
            done.failure = MdmemoryError(f"The file system refused ({problem.strerror}).")
    return done


# --- the file ----------------------------------------------------------------------------------


def _rendered(wish: Wish, key: bytes) -> bytes:
    head = "".join(f"{name}: {json.dumps(getattr(wish, name))}\n" for name in _KEYS)
    seal = f"seal: {_seal(wish, key)}\n" if key else ""
    return f"---\n{head}{seal}---\n\n{wish.text}\n".encode("utf-8", "replace")


def _read(data: bytes, key: bytes) -> Wish | None:
    """The wish in a file, None where it is none, or was not sealed by us."""
    begin, _, rest = data.decode("utf-8", "replace").partition("---\n")
    head, mark, text = rest.partition("\n---\n\n")
    if begin or not mark:
        return None
    said: dict[str, str] = {}
    for line in head.split("\n"):
        name, _, value = line.partition(": ")
        said[name] = value
    try:
        known = {name: json.loads(said[name]) for name in _KEYS}
    except (KeyError, ValueError, RecursionError):
        return None
    return _wish(known, text.removesuffix("\n"), said.get("seal", ""), key)


def _wish(known: Mapping[str, object], text: str, seal: str, key: bytes) -> Wish | None:
    if not all(isinstance(value, str) for value in known.values()):
        return None
    wish = Wish(text=text, **known)  # type: ignore[arg-type]
    return wish if key and hmac.compare_digest(_seal(wish, key), seal) else None


def _seal(wish: Wish, key: bytes) -> str:
    said = json.dumps([wish.text, *(getattr(wish, name) for name in _KEYS)])
    return hmac.new(key, said.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
