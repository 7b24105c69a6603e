"""The names of a note: those that it has, and those of the notes that were merged into it; a
person's own keys; and links, which lead to names. Pure.

By the names, `metadata.merged`, a [[link]] to a merged or renamed note still finds its text. No key
of a person's is lost: lists are joined, and of two values the second goes to an `x-` key.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from mdmemory.errors import BadNote
from mdmemory.note import frontmatter
from mdmemory.note.editing import EditedHead
from mdmemory.note.limits import ALIASES, CITES, KNOWN_KEYS, TYPES, file_name
from mdmemory.note.note import Head, Note, body_span, read_fields, split

KEY = "merged"


def note_names(note: Note) -> set[str]:
    """Every name under which a link finds the note, as links are compared."""
    return own_names(note.head) | alias_names(note.head) | former_names(note).keys()


def own_names(head: Head) -> set[str]:
    """The names that the note has now: its name, and the stem of its file."""
    return {fold_name(head.name), fold_name(head.file)}


def alias_names(head: Head) -> set[str]:
    """The aliases but its name, as links are compared. Each stands for the name of the file that
    the note had by it, too."""
    others = [alias for alias in head.aliases if alias != head.name]
    return {fold_name(name) for each in others for name in (each, file_name(head.type, each))}


def former_names(note: Note) -> dict[str, str]:
    """The names that the note took over, folded, each with what a link to it should say now:
    the name for a name, the stem of the file for a stem."""
    head, stem = note.head, note.head.file.removesuffix(".md")
    written = _listed_of(note)
    names = {fold_name(file_name(head.type, name)): stem for name in written}
    return names | {fold_name(name): head.name for name in written}


def join_merged(base: Note, name: str, gone: Iterable[Note]) -> str | None:
    """The value of `metadata.merged` for the note that `gone` notes join; None when it stays.

    `base` is the note that is written, `name` the one it will have.
    """
    before = _listed_of(base)
    names = dict.fromkeys(before)
    for note in gone:
        names |= dict.fromkeys((*_listed_of(note), *last_names(note.head)))
    others = [each for each in names if fold_name(each) != fold_name(name)]
    return ", ".join(others) if others and others != before else None


def last_names(head: Head) -> list[str]:
    """The name of a note that goes, and its stem where that does not follow from type and name."""
    follows = head.file == file_name(head.type, head.name)
    names = [head.name] if follows else [head.name, head.file.removesuffix(".md")]
    return [name for name in names if "," not in name and name.isprintable()]


def _listed_of(note: Note) -> list[str]:
    """The names of `metadata.merged`, as they are written; a list, or one text with commas."""
    if f"{KEY}:" not in note.text:  # few notes were ever merged, and reading a head again is dear
        return []
    fields = read_fields(note)
    block = fields.get("metadata")
    value = (block if isinstance(block, dict) else fields).get(KEY, fields.get(KEY))
    words = value if isinstance(value, list) else str(value or "").split(",")
    return [name for word in words if (name := str(word).strip().removesuffix(".md"))]


def fold_name(name: str) -> str:
    """A name as links compare it: composed, without case, without `.md`."""
    return unicodedata.normalize("NFC", name).strip().casefold().removesuffix(".md")


# --- a person's own keys

_OURS = (KNOWN_KEYS | {KEY}) - {"title"}
_LISTS = (ALIASES, CITES, "tags")  # one value alone is a list of one
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,59}")


def own_keys(note: Note) -> dict[str, object]:
    """What a person put into the head beside our keys, and the title: place and value, as read.

    Places are like `aliases` and `metadata.owner`. What is empty is left out.
    """
    fields = frontmatter.flatten(split(note.text)[1].fields)
    return {
        place: value
        for place, value in fields.items()
        if place.removeprefix("metadata.") not in _OURS and value not in ("", [], {}, None)
    }


def has_own_keys(note: Note) -> bool:
    """Whether a person put anything into the head beside our keys; aliases that only repeat what
    the note is or was called are ours."""
    keys = own_keys(note)
    ours = own_names(note.head) | former_names(note).keys()
    if ALIASES in keys and ours.issuperset(map(fold_name, note.head.aliases)):
        del keys[ALIASES]
    return bool(keys)


def with_aliases(note: Note, names: Iterable[str]) -> Note:
    """The note with these names among its aliases, too; itself where they are there already.

    Raises BadNote for a head in which they cannot be written.
    """
    known = set(map(fold_name, note.head.aliases))
    new = [name for name in dict.fromkeys(names) if fold_name(name) not in known]
    if not new:
        return note
    union = _Union(note)
    union.add(ALIASES, new)
    return union.finish()


def unite_notes(base: Note, others: Sequence[Note]) -> Note:
    """`base` with the own keys and the citations of the `others`; itself where it has them all.

    Raises BadNote where two notes differ in a way that cannot be kept side by side.
    """
    owned: list[tuple[Note, dict[str, object]]] = []
    for other in others:
        cites = {f"metadata.{CITES}": [*other.head.cites]} if other.head.cites else {}
        owned.append((other, own_keys(other) | cites))
    if not any(own for _, own in owned):
        return base
    union = _Union(base)
    for other, own in owned:
        reading = split(other.text)[1]
        if own and reading.problem:
            raise BadNote(
                f"The head of {other.head.file} cannot be read: {reading.problem}",
                "Correct it by hand, or leave the note out of the merge.",
            )
        for place, value in own.items():
            union.take(place, value, other)
    return union.finish()


class _Union(EditedHead):
    """The head of the note that stays, while the keys of the others join it."""

    def take(self, place: str, value: object, source: Note) -> None:
        mine = self.values.get(place)
        if mine == value:
            return
        if mine in ("", [], {}, None):
            self.copy(place, value, source)
            return
        left, right = _value_items(place, mine), _value_items(place, value)
        is_list = _is_listed(place) or isinstance(mine, list) or isinstance(value, list)
        if is_list and left is not None and right is not None:
            self._join_items(place, left, right)
        else:
            # a second value of a key goes to `x-KEY`, or to `x-KEY-2` and so on
            key = place.removeprefix("metadata.")
            is_text = isinstance(mine, str) and isinstance(value, str)
            if not is_text or not _KEY.fullmatch(key):
                shown, other = f"`{key[:40]}` of {self.note.head.file}", source.head.file
                raise BadNote(
                    f"{shown} and of {other} cannot be united.",
                    "Make them agree by hand, or leave one of the notes out of the merge.",
                )
            first = place.removesuffix(key) + (key if key.startswith("x-") else f"x-{key}")
            name, number = first, 1
            while self.values.get(name, value) != value:
                number += 1
                name = f"{first}-{number}"
            self.put(name, str(value))

    def add(self, place: str, items: list[str]) -> None:
        """More items for a list, at the end of it; a new list where there is none."""
        mine = self.values.get(place)
        if mine in ("", [], {}, None):
            self.put(place, items)
            return
        before = _value_items(place, mine)
        if before is None and isinstance(mine, str):
            before = [each.strip() for each in mine.split(",")]
        if before is None:
            raise BadNote(
                f"`{place}` of {self.note.head.file} is not a list of names.",
                "Write it as `aliases: [one, two]`, by hand.",
            )
        self._join_items(place, before, items)

    def _join_items(self, place: str, mine: list[str], theirs: list[str]) -> None:
        new = list(dict.fromkeys(item for item in theirs if item not in mine))
        if new:
            self.put(place, [*mine, *new])


def _value_items(place: str, value: object) -> list[str] | None:
    """A value as a list of texts; None for what is neither text nor such a list."""
    if isinstance(value, str):
        return None if _is_listed(place) and "," in value else [value]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    return None


def _is_listed(place: str) -> bool:
    return place.removeprefix("metadata.") in _LISTS


# --- links, [[name]] and [text](file.md): where they lead, and what they should say. Whatever is
# rewritten changes only the characters of the name itself.

# What stands in code is no link: `[[ -f x ]]` asks a shell for a file.
_LINK = (  # compiled at the first use
    r"(?ms)^[ \t]*(?P<fence>```|~~~).*?(?:^[ \t]*(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
    # in a table the bar is escaped, and the backslash is no part of the target
    r"|\[\[[ \t]*(?:\./)?(?P<target>[^\[\]|#\n]*[^\[\]|#\s\\])[ \t]*(?:\\*[|#][^\[\]\n]*)?\]\]"
    r"|\]\([ \t]*(?:\./)?(?P<file>[^\s()<>#?]*\.md)(?=[)#? \t])"
    r"|\]\([ \t]*<(?:\./)?(?P<angled>[^<>\n#?]*\.md)(?=[>#?])"
    r"|^ {0,3}\[[^\[\]\n]{1,200}\]:[ \t]*(?:\./)?(?P<defined>[^\s()<>#?]*\.md)(?=[#?\s]|\Z)"
)

Found = Mapping[str, Note]  # by a link that leads nowhere, the note that it once led to


class Link(NamedTuple):
    """A link of a note that does not lead to a name of now; `now` is what it should say, or "".

    `shows`: what it said before is shown in its place.
    """

    file: str
    target: str
    now: str
    shows: bool = False


def may_link(text: str) -> bool:
    """Whether a text may hold links. No is certain."""
    return "[[" in text or "](" in text or "]:" in text


def may_link_to(note: Head) -> Callable[[str], bool]:
    """Whether a text may hold links that `follow_note` changes for this note. No is certain."""
    names = {fold_name(note.name), fold_name(note.file)}

    def may_link_text(text: str) -> bool:
        if not may_link(text):
            return False
        # no sign around a name joins its letters, so it stands in the whole as it does alone
        whole = (text if text.isascii() else unicodedata.normalize("NFC", text)).casefold()
        return "%" in text or any(name in whole for name in names)

    return may_link_text


def find_strays(
    notes: Sequence[Note], renamed: Callable[[Sequence[str]], Found] = lambda _: {}
) -> list[Link]:
    """The links of these notes that say no name of now, in their order, each once a note.

    `renamed` is asked once, and only for links that lead nowhere.
    """
    known = {name for note in notes for name in own_names(note.head)}
    pairs = ((note.head.file, target) for note in notes for target in _link_targets(note))
    links = [(file, target) for file, target in pairs if fold_name(target) not in known]
    if not links:
        return []
    # folded names that exactly one note had before, by what a link to it says now
    former: dict[str, dict[str, str]] = defaultdict(dict)
    for note in notes:
        stem = fold_name(note.head.file)
        kind, _, rest = stem.partition("-")
        if rest and kind in TYPES:
            former[rest][stem] = note.head.name  # its file still says what it was called
        for name, said in former_names(note).items():
            former[name][stem] = said
    now = {name: said for name, by in former.items() if len(by) == 1 for said in by.values()}
    if lost := sorted({target for _, target in links if fold_name(target) not in now}):
        for target, note in renamed(lost).items():
            # the name for a name, the stem of the file for a stem
            is_stem = fold_name(target).partition("-")[0] in TYPES
            file = note.head.file.removesuffix(".md")
            now[fold_name(target)] = file if is_stem else note.head.name
    aliases = {name for note in notes for name in alias_names(note.head)}
    strays = [Link(file, target, now.get(fold_name(target), "")) for file, target in links]
    return [link for link in strays if link.now or fold_name(link.target) not in aliases]


def by_name(notes: Sequence[Note]) -> list[Link]:
    """The links that name one note by its name or alias, with the name of its file, each once a
    note. Of two notes with the name none is meant."""
    stems = {fold_name(note.head.file) for note in notes}
    owners: dict[str, set[str]] = defaultdict(set)
    aliased: dict[str, set[str]] = defaultdict(set)
    for note in notes:
        stem = note.head.file.removesuffix(".md")
        owners[fold_name(note.head.name)].add(stem)
        for name in alias_names(note.head):
            aliased[name].add(stem)
    files = []
    for note in notes:
        for target in _link_targets(note):
            meant = owners.get(fold_name(target)) or aliased.get(fold_name(target), set())
            if fold_name(target) not in stems and len(meant) == 1:
                files.append(Link(note.head.file, target, min(meant), shows=True))
    return files


def rewrite_links(note: Note, links: Iterable[Link]) -> str:
    """The note's whole text with these links saying what they should; all other bytes as before."""
    now = {link.target: link.now for link in links if link.now}
    shown = {link.target for link in links if link.shows}
    start, end = body_span(note.text, split(note.text)[0])
    body = _replace_targets(note.text[start:end], now.get, shown=shown)
    return note.text[:start] + body + note.text[end:]


def follow_note(note: Note, old: Head, new: Head, *, by_name: bool = True) -> str:
    """The note's whole text with each link to the note `old` leading to what it is called now.

    That holds for links in the head, too, and for the old name where a link shows it. Without
    `by_name` only links to the file follow, since another note has the name.
    """
    stem = new.file.removesuffix(".md")
    names = {fold_name(old.name): new.name} if by_name else {}
    names[fold_name(old.file)] = stem
    start, _ = body_span(note.text, split(note.text)[0])
    text = "".join(
        _replace_targets(
            part,
            lambda target: names.get(fold_name(target)),
            lambda target: new.file if unquote(target) == old.file else None,
        )
        for part in (note.text[:start], note.text[start:])
    )
    for bar in ("|", "\\|") if by_name else ():
        # a link that shows the name, as `doctor` writes it for Obsidian
        text = text.replace(f"[[{stem}{bar}{old.name}]]", f"[[{stem}{bar}{new.name}]]")
    return text


def _replace_targets(
    text: str,
    name_now: Callable[[str], str | None],
    file_now: Callable[[str], str | None] = lambda _: None,
    shown: Collection[str] = (),
) -> str:
    """The text with other targets in its links: of [[name]], without `.md`, and of (file.md).

    A target in `shown` is shown as before: [[name]] becomes [[target|name]].
    """

    def replaced_link(match: re.Match[str]) -> str:
        group = match.lastgroup or ""
        if group == "target":
            ending = ".md" if match[group].endswith(".md") else ""
            now = name_now(match[group])
            now = now and f"{now}{ending}"
            # not where it shows a text of its own, or leads to a heading
            if now and match[group] in shown and not re.search("[|#]", match[0]):
                line = match.string[match.string.rfind("\n", 0, match.start()) + 1 :]
                bar = "\\|" if line.lstrip().startswith("|") else "|"  # of a table, or of a link
                now = f"{now}{bar}{match[group]}"
        else:
            now = file_now(match[group]) if group in ("file", "angled", "defined") else None
        if not now:
            return match[0]
        at, end = (place - match.start() for place in match.span(group))
        return f"{match[0][:at]}{now}{match[0][end:]}"

    return re.sub(_LINK, replaced_link, text) if may_link(text) else text


def _link_targets(note: Note) -> dict[str, None]:
    """What the [[links]] of a note name, each once."""
    links = re.finditer(_LINK, note.body) if "[[" in note.body else ()
    return dict.fromkeys(match["target"] for match in links if match["target"])


def named_in(note: Note) -> list[str]:
    """What the links of a note say, in their order, each once: names, and of [text](file.md) the
    file without its ending."""
    if not may_link(note.body):
        return []
    names = dict[str, None]()
    for match in re.finditer(_LINK, note.body):
        if target := match["target"]:
            names[target] = None
        elif file := match["file"] or match["angled"] or match["defined"]:
            names[unquote(file).removesuffix(".md")] = None
    return [*names]
