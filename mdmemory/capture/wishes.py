"""What waits in an inbox, one file each: requests of a user, kept by the hook until their turn has
ended, and what an import made no note of. Their text is redacted. A request counts only by its
seal: so none comes along with somebody's repository, and only its own machine settles it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from mdmemory.capture.notice import begins_with_request, is_personal, type_of
from mdmemory.config import person
from mdmemory.config.table import DEFAULT_STORE, PROJECT_FILE
from mdmemory.errors import MdmemoryError
from mdmemory.files import digest, read_regular, read_start, write_atomic
from mdmemory.store import inbox
from mdmemory.store.project import INBOX, OURS, WISH, Project
from mdmemory.transcripts.turns import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.store.state import State

_KEYS = ("session", "turn", "since", "why", "project", "at", "answer", "said")
# The turns whose requests were kept while they were said, one after the other.
ANSWERED = "answered"
_REMEMBERED = 200  # of a session; by then a reading has long gone past them
IDLE = timedelta(minutes=10)  # until the turn of another session counts as ended
UNATTENDED = "unattended"  # said within a run that nobody watches: only a call stores it
_SHARE = 0.5  # of a wish's telling words that its answers have
_LONGEST = 20_000  # characters of the answers that one file collects


class Wish(NamedTuple):
    """`since` is a UTC day and `at` the moment (ISO 8601), `why` the code of what kept it from
    being written, `project` the project's root where the file lies outside of its store. `answer`
    are the texts by which calls answered a part of it, `said` names its message by its words."""

    text: str
    session: str = ""
    turn: str = ""
    since: str = ""
    why: str = ""
    project: str = ""
    at: str = ""
    answer: str = ""
    said: str = ""

    @property
    def key(self) -> str:
        """What names it for good: its session, its turn and its words."""
        content = f"{self.project}\n{self.session}\n{self.turn}\n{self.text}"
        return digest(content.encode("utf-8", "replace"))[:12]

    @property
    def file(self) -> str:
        """Its file, named so that files stand in the order in which the wishes were said."""
        moment = "".join(filter(str.isdigit, self.at))[:20]
        return f"{WISH}{moment}-{self.key}{inbox.END}"

    @property
    def is_personal(self) -> bool:
        """Whether it goes to the person's store, whichever project it was said in."""
        return is_personal(type_of(self.text), self.text)

    def is_due(self, now: datetime, session: str, turn: str = "") -> bool:
        """Whether it is to be written unasked: somebody watched, and its turn has ended, for this
        session is at another (with "" for the turn: at none), or its own was silent for a while."""
        if self.why == UNATTENDED:
            return False
        if session and self.session == session:
            return self.turn != turn
        return now - datetime.fromisoformat(self.at) >= IDLE

    def answered(self, text: str) -> Wish:
        """The wish with one more text that answers a part of it."""
        return self._replace(answer=f"{self.answer}\n{text}".strip()[-_LONGEST:])

    def is_answered(self) -> bool:
        """Whether its answers have all its literals and most of its telling words, and of each of
        its clauses something."""
        from mdmemory.text import literals
        from mdmemory.text.conflict import clause_parts
        from mdmemory.text.words import word_keys

        wanted, there = {*word_keys(self.text)}, {*word_keys(self.answer)}
        lost, _ = literals.audit_literals([self.text], self.answer)
        if any(each.casefold() not in self.answer.casefold() for each in lost):
            return False
        clauses = [{*word_keys(part)} for part in clause_parts(self.text)]
        return len(wanted & there) >= _SHARE * len(wanted) and all(
            len(each & there) * 3 >= len(each) for each in clauses if len(each) > 1
        )

    def touches_text(self, text: str) -> bool:
        """Whether a text speaks of what it asks for."""
        from mdmemory.text.words import word_keys

        wanted, there = {*word_keys(self.text)}, {*word_keys(text)}
        return len(wanted & there) >= max(1, min(len(wanted), len(there)) // 3)


class Inbox(NamedTuple):
    """A folder of wishes. The key in the file `key_file` seals them, and is made with the first
    wish; where it cannot be had, wishes are kept all the same, and wait for a person."""

    folder: Path
    key_file: Path
    project: str = ""

    def put(self, wishes: Sequence[Wish]) -> list[Path]:
        """Keep them. Raises Unwritable, RepositoryState for a link in its place."""
        inbox.prepare_inbox(self.folder)
        # where another process was quicker, or the disk is full, what there is counts
        with suppress(OSError, MdmemoryError):
            if not self.key_file.exists():
                self.key_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                fresh = os.urandom(32).hex().encode("ascii")
                write_atomic(self.key_file, fresh, replace=False, mode=0o600)
        key = _seal_key(self.key_file)
        known = [path.name for path in self.files()]
        paths = []
        for wish in (each._replace(project=self.project) for each in wishes):
            # but for the same event, heard twice
            if not any(name.endswith(f"-{wish.key}{inbox.END}") for name in known):
                paths.append(self.folder / wish.file)
                write_atomic(paths[-1], _render_wish(wish, key), mode=0o600)
        return paths

    def wishes(self) -> list[tuple[Path, Wish]]:
        """The wishes of this project, the oldest first. What is no file of ours is passed over."""
        files, own = self.files(), []
        key = _seal_key(self.key_file) if files else b""
        for path in files:
            with suppress(MdmemoryError):
                wish = _read(read_regular(path), key)
                if wish is not None and wish.project == self.project:
                    own.append((path, wish))
        return sorted(own, key=lambda pair: (pair[1].since, pair[0].name))

    def kept(self) -> list[Path]:
        """The files of this project's wishes, also of those that only a person can settle."""
        return [path for path, _ in self.wishes()] if self.project else self.files()

    def files(self) -> list[Path]:
        """The files that look like wishes, without reading them."""
        return inbox.inbox_files(self.folder, WISH)

    def answer(self, path: Path, wish: Wish) -> bool:
        """Keep what answers a part of a wish with it; a wish that is answered whole goes, and is
        told."""
        if is_whole := wish.is_answered():
            path.unlink(missing_ok=True)
        else:
            write_atomic(path, _render_wish(wish, _seal_key(self.key_file)), mode=0o600)
        return is_whole


def _seal_key(file: Path) -> bytes:
    """The person's key for seals; b"" where there is none."""
    try:
        return read_regular(file, 200)
    except MdmemoryError:
        return b""


def words_id(text: str) -> str:
    """A name for a turn by what it says, where a host's hooks and its sessions name it apart."""
    words = " ".join(clean(text).split())
    return f"said-{digest(words.encode('utf-8', 'replace'))[:16]}"


def mark_answered(state: State, session: str, ids: Sequence[str]) -> None:
    """Have a later reading of the session pass over a message whose requests were heard, by the
    names that hooks and sessions have for it."""
    fresh = dict.fromkeys(filter(None, ids))
    known = [id for id in (state.watermark(session, ANSWERED) or "").split() if id not in fresh]
    state.set_watermark(session, " ".join([*known, *fresh][-_REMEMBERED:]), ANSWERED)


# --- where the inboxes lie


def open_inboxes(project: Project) -> list[Inbox]:
    """The inboxes of a project: the store's own first, then the person's."""
    stores, persons = project.inboxes()
    key = persons.with_name("inbox.key")
    root = _project_root(project.around) if project.around else project.root
    return [Inbox(stores, key), Inbox(persons, key, os.path.realpath(root))]


def inbox_without_store(start: Path) -> Inbox:
    """The nearest inbox for a folder whose store cannot be opened: that of the usual store where it
    is there and ours, else the person's."""
    root, own = _project_root(start), person.state_folder()
    store = root / DEFAULT_STORE
    place = os.path.realpath(root)
    with suppress(MdmemoryError):
        is_ours = read_start(store / "MEMORY.md", len(OURS)) == OURS
        if is_ours and os.path.realpath(store) == os.path.join(place, DEFAULT_STORE):
            return Inbox(store / INBOX, own / "inbox.key")
    return Inbox(own / "inbox", own / "inbox.key", place)


def _project_root(start: Path) -> Path:
    """The folder of the settings file upward, else the repository's top, else `start` itself."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if os.path.lexists(folder / PROJECT_FILE) or os.path.lexists(folder / ".git"):
            return folder
    return start


def keep_wishes(
    places: Sequence[Inbox], texts: Sequence[str], session: str, turn: str, now: datetime,
    message: str = "", attended: bool = True,
) -> list[Path]:  # fmt: skip
    """Keep what a message asks to remember in the first of the inboxes that takes it: the files.
    `message` is all that was said. In a run that is not `attended` only a request that the message
    begins with is ever written unasked. Raises what the last of them raises."""
    why = "" if attended or begins_with_request(message) else UNATTENDED
    wishes = []
    for number, text in enumerate(texts):
        at = now + timedelta(microseconds=number)
        moment, id = at.isoformat(timespec="microseconds"), words_id(message)
        wishes.append(Wish(text, session, turn, f"{at.date()}", why, at=moment, said=id))
    for number, place in enumerate(places if wishes else (), 1):
        try:
            return place.put(wishes)
        except (MdmemoryError, OSError) as problem:
            if number < len(places):
                continue
            if isinstance(problem, MdmemoryError):
                raise
            raise MdmemoryError(f"The file system refused ({problem.strerror}).") from problem
    return []


# --- the files of an inbox


def render_head(values: Mapping[str, object], text: str) -> bytes:
    """A file of the inbox: a head with one value in JSON a line, and a text."""
    head = "".join(f"{k}: {json.dumps(v, ensure_ascii=False)}\n" for k, v in values.items())
    return f"---\n{head}---\n\n{text}".encode("utf-8", "replace")


def read_head(data: bytes) -> tuple[dict[str, Any], str]:
    """The values and the text of such a file. A person may have edited it: what is no JSON counts
    as text, and without a head all of it is text."""
    text = data.decode("utf-8", "replace")
    head, mark, body = text.removeprefix("---\n").partition("\n---\n")
    values: dict[str, Any] = {}
    if not mark or not text.startswith("---\n"):
        return values, text
    for line in head.split("\n"):
        name, _, value = line.partition(": ")
        try:
            values[name] = json.loads(value)
        except (ValueError, RecursionError):
            values[name] = value.strip()
    return values, body.removeprefix("\n")


def _render_wish(wish: Wish, key: bytes) -> bytes:
    values = {name: getattr(wish, name) for name in _KEYS}
    values |= {"seal": _seal_wish(wish, key)} if key else {}
    return render_head(values, f"{wish.text}\n")


def _read(data: bytes, key: bytes) -> Wish | None:
    """The wish in a file, None where it is none, or was not sealed by us."""
    values, text = read_head(data)
    known: dict[str, Any] = {name: values.get(name) for name in _KEYS}
    if not all(isinstance(each, str) for each in known.values()):
        return None
    wish, seal = Wish(text.removesuffix("\n"), **known), str(values.get("seal", ""))
    return wish if key and hmac.compare_digest(_seal_wish(wish, key), seal) else None


def _seal_wish(wish: Wish, key: bytes) -> str:
    content = json.dumps([wish.text, *(getattr(wish, name) for name in _KEYS)])
    return hmac.new(key, content.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


# --- what an import made no note of

_REST = "import-"


class Rest(NamedTuple):
    """A text of the source, redacted, with the place it comes from and why it is no note."""

    text: str
    origin: str
    reason: str


def keep_rests(store: Path, label: str, rests: Sequence[Rest], since: str) -> Path:
    """Keep the texts of one import in a file for their owner alone (0600), and return its path.

    The same import again writes the same file. Raises Unwritable, and RepositoryState for a link
    in the inbox's place.
    """
    folder = store / INBOX
    inbox.prepare_inbox(folder)
    lines = (" · ".join((each.origin, each.reason)).replace("--", "- -") for each in rests)
    comments = (f"<!-- {line} -->".replace("\n", " ") for line in lines)
    body = "\n".join(f"{c}\n{each.text}\n" for c, each in zip(comments, rests, strict=True))
    name = digest(f"{label}\n{body}".encode("utf-8", "replace"))[:12]
    path = folder / f"{_REST}{name}{inbox.END}"
    if not os.path.lexists(path):
        write_atomic(path, render_head({"from": label, "since": since}, body), mode=0o600)
    return path


def rest_files(store: Path) -> list[Path]:
    """The files that imports left in the store's inbox, without reading them."""
    return inbox.inbox_files(store / INBOX, _REST)


def read_rest(path: Path) -> tuple[str, str, str]:
    """Where such a file comes from, its day, and its text without the head; a person may have
    edited it. Raises MdmemoryError where it cannot be read."""
    values, text = read_head(read_regular(path))
    return str(values.get("from", "")), str(values.get("since", "")), text.strip()
