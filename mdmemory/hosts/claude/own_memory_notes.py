"""Claude Code's own folder of notes for a project, read: each text is taken over once.

One way only: Claude's files are never written. What a person changed or forgot in the store stays
so, and is named where Claude still says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mdmemory.capture.note_text import keys_of
from mdmemory.capture.wishes import Rest, keep_rests
from mdmemory.config import person
from mdmemory.errors import BadNote, MdmemoryError, NoStore, NotFound
from mdmemory.files import digest, is_inside, read_regular, write_atomic
from mdmemory.hosts.claude.own_memory_settings import carried_folder, main_checkout
from mdmemory.layers import MINE, PROJECT, USER
from mdmemory.memory import Memory
from mdmemory.note.editing import edit
from mdmemory.note.note import SUPERSEDED, decode, parse
from mdmemory.privacy import is_secret
from mdmemory.privacy.redaction import redact
from mdmemory.store import evidence
from mdmemory.store.adopt import FEW
from mdmemory.store.evidence import TakenText
from mdmemory.store.index import strange_lines
from mdmemory.store.project import OURS
from mdmemory.store.store import INDEX, is_note_name
from mdmemory.store.strangers import suspicion_of

_MOST_FILES = 500
_MOST_BYTES = 256 * 1024  # of a note
_MOST_SLUG = 200  # characters; of a longer one Claude cuts the end and adds a hash
_FROM = "Claude Code's MEMORY.md"
SETTING = "claude.memory"


def take_in(layers: Memory, folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Take over what Claude wrote into its own folder of the project around `folder`; sentences for
    the person. For the end of a turn."""
    if layers.settings.text(SETTING) == "off":
        return []
    place = folder_of(folder, environment)
    sentences: list[str] = []
    named = carried_folder(folder, environment)
    for memory in layers.there():
        if named is not None and is_inside(named, memory.project.store):
            sentences += rescue_lines(memory)
    stores = [memory.project.store for memory in layers.there()]
    if place is not None and not any(is_inside(place, store) for store in stores):
        is_read = named is None
        with suppress(NoStore):  # nothing may be made here, or it is not certain whose it is
            sentences += take_folder(layers, place, is_read=is_read)
    return sentences


def folder_of(folder: Path, environment: Mapping[str, str]) -> Path | None:
    """Claude's own folder of notes for the project around `folder`; None where there is none."""
    projects = person.host_places(environment).claude
    top = str(main_checkout(folder))
    slug = "".join(char if char.isascii() and char.isalnum() else "-" for char in top)
    if len(slug) <= _MOST_SLUG:
        folders = [projects / slug]
    else:
        folders = sorted(projects.glob(f"{slug[:_MOST_SLUG]}*"))
    return next((each / "memory" for each in folders if (each / "memory").is_dir()), None)


def take_folder(layers: Memory, place: Path, *, is_read: bool) -> list[str]:
    """Take over what is new in Claude's folder `place`; sentences for the person.

    `is_read`: Claude still reads that folder, so what it removed there goes, and what the person
    forgot here is named. Raises NoStore where a new note has no store to go to.
    """
    texts: dict[str, bytes] = {}
    for path in sorted(place.glob("*.md"))[:_MOST_FILES]:
        if path.name == INDEX or is_note_name(path.name):
            with suppress(MdmemoryError):  # a link, or half of a file: Claude's own business
                texts[path.name] = read_regular(path, _MOST_BYTES)
    known: list[TakenText] = []
    if layers.there():
        with layers.main.state() as state:
            known = evidence.of_place(state, str(place))
    known_texts = {(each.file, each.digest) for each in known}
    digests = {file: digest(data) for file, data in texts.items()}
    new = {file: data for file, data in texts.items() if (file, digests[file]) not in known_texts}
    notes = {file: data for file, data in new.items() if file != INDEX}
    sentences = _take_texts(layers, place, known, notes) if notes else []
    if INDEX in new and layers.there():  # what the index says, and no note, goes into the inbox
        lines = strange_lines(texts[INDEX].decode("utf-8", "replace"), {*texts})
        _note_down(layers, place, TakenText(INDEX, digests[INDEX]))
        sentences += _kept_lines(layers.main, lines, place)
    if is_read and layers.there():
        sentences += _drop_outdated(layers, place, known, digests)
    return sentences


def _note_down(layers: Memory, place: Path, *texts: TakenText) -> None:
    with layers.main.state() as state:
        evidence.put_texts(state, str(place), *texts)


# --- what is new


def _take_texts(
    layers: Memory, place: Path, known: Sequence[TakenText], new: Mapping[str, bytes]
) -> list[str]:
    """Bring new texts into the stores, and note all of them down."""
    rows: list[TakenText] = []
    fresh: dict[int, list[str]] = {}  # by store, what a commit is to hold
    secrets: list[str] = []
    for file, data in new.items():
        row = TakenText(file, digest(data))
        try:
            text = decode(data)
        except BadNote:
            rows.append(row)
            continue
        if is_secret(text):
            secrets.append(file)
            rows.append(row)
            continue
        type = USER if parse(text, file).head.type == USER else PROJECT
        memory = layers.for_fact(type)
        earlier = next((each for each in reversed(known) if each.file == file and each.note), None)
        note = _note_having(layers, data)
        if note is None and earlier is not None and not suspicion_of(text):
            with suppress(MdmemoryError):  # somebody changed or removed it since
                owner, name = layers.holding(earlier.note)
                owner.replace_text(name, text, replaces=earlier.was)
                note = earlier.note
        if note is None and any(
            keys_of(parse(text, file)) & keys_of(each.note)
            for store in layers.there()
            for each in store.notes()
        ):
            note = ""  # one says it already
        if note is None:
            name = _free_name(memory.project.store, file)
            # what only the person's store can take stands there with the folder it is of
            _, route = layers.open_for(personal=type == USER)
            for key, value in route.metadata(type, "").items():
                with suppress(BadNote):
                    text = edit(parse(text, file), set={f"metadata.{key}": value}).text
            data = text.encode("utf-8")
            write_atomic(memory.project.store / name, data, replace=False)
            fresh.setdefault(id(memory), []).append(name)
            note = f"{MINE if memory is layers.of_person else ''}{name}"
            row = row._replace(was=digest(data))
        elif earlier is not None and earlier.note == note:
            row = row._replace(was=row.digest)
        rows.append(row._replace(note=note))
    _note_down(layers, place, *rows)
    for memory in layers.there():
        if files := fresh.get(id(memory)):
            memory.adopt(only=files)
    sentences = []
    if count := sum(map(len, fresh.values())):
        what = "a note" if count == 1 else f"{count} notes"
        sentences = [f"mdmemory took over {what} from Claude Code's own memory ({place})."]
    return sentences + [
        f"{place / file} seems to hold a secret and was not taken over. Take it out there."
        for file in secrets
    ]


def _note_having(layers: Memory, data: bytes) -> str | None:
    """The note that has, or "" where a note once had, exactly these bytes."""
    for memory in layers.there():
        prefix = MINE if memory is layers.of_person else ""
        same = [each for each in memory.notes() if each.digest == digest(data)]
        if same:
            return f"{prefix}{same[0].file}"
        history = memory.opened.writer().history
        if history and history.repository.ask("cat-file", "-e", history.blob_id(data)) is not None:
            return ""
    return None


def _free_name(store: Path, file: str) -> str:
    """A name for the file that no note of the store has."""
    there = {path.name.casefold() for path in store.iterdir()}
    stem, number, name = file.removesuffix(".md"), 1, file
    while name.casefold() in there:
        number += 1
        name = f"{stem}-{number}.md"
    return name


# --- what the index alone says


def _kept_lines(memory: Memory, lines: Sequence[str], place: Path) -> list[str]:
    if not lines:
        return []
    rests = [Rest(redact(line)[0], INDEX, "no_note") for line in lines]
    keep_rests(memory.project.store, _FROM, rests, memory.now().date().isoformat())
    return [f"{place / INDEX} says what no note says: it waits in `mdmemory review`."]


def rescue_lines(memory: Memory) -> list[str]:
    """Put what Claude wrote into the index of a store itself, and no note says, into the inbox,
    and make the index anew; sentences. To be called before a command makes it anew."""
    store, history = memory.project.store, memory.opened.writer().history
    try:
        data = read_regular(store / INDEX, _MOST_BYTES)
    except MdmemoryError:
        return []
    head = history.head() if history else None
    before = history.read_many(head, [INDEX]).get(INDEX, b"") if history and head else b""
    if data == before or not before.startswith(OURS):
        return []  # it is as we left it, or was never ours
    known = {path.name for path in store.glob("*.md")}
    known |= {*history.read_tree(head)} if history else set()
    ours = [line.strip() for line in before.decode("utf-8", "replace").splitlines()]
    lines = strange_lines(data.decode("utf-8", "replace"), known, ours)
    kept_lines = _kept_lines(memory, lines, store)
    if not data.startswith(OURS):
        write_atomic(store / INDEX, before)  # without its first line it would count as a person's
    memory.index()
    return kept_lines


# --- what is out of date


def _drop_outdated(
    layers: Memory, place: Path, known: Sequence[TakenText], now: Mapping[str, str]
) -> list[str]:
    """Remove what Claude removed, and name what it still says though the person does not."""
    sentences: list[str] = []
    last = {each.file: each for each in known if each.note}
    gone = [each for file, each in last.items() if file not in now]
    if now and len(gone) <= max(FEW, len(last) // 4):
        for each in gone:
            with suppress(MdmemoryError):
                memory, name = layers.holding(each.note)
                if memory.note(name).digest == each.was:  # nobody changed it since
                    memory.remove(name)
                    sentences.append(
                        f"{each.note} is removed: Claude Code removed it from its own memory."
                    )
            _note_down(layers, place, each._replace(note=""))
    for file, each in last.items():
        if now.get(file) != each.digest or each.told:
            continue
        try:
            memory, name = layers.holding(each.note)
            if memory.note(name).note.head.status != SUPERSEDED:
                continue
        except NotFound:
            pass  # the person forgot it
        sentences.append(f"Claude Code's own memory still says what you took back: {place / file}.")
        _note_down(layers, place, each._replace(told=True))
    return sentences
