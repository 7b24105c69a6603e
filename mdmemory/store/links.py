"""The links of notes, [[name]] and [text](file.md): where they lead, and what they should say.

Pure. Whatever is rewritten changes only the characters of the name itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from mdmemory.note.limits import TYPES
from mdmemory.note.note import Head, Note, body_span, split
from mdmemory.store.merged import alias_names, fold_name, former_names, own_names

# What stands in code is no link: `[[ -f x ]]` asks a shell for a file.
_LINK = re.compile(
    r"^[ \t]*(?P<fence>```|~~~).*?(?:^[ \t]*(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
    # in a table the bar is escaped, and the backslash is no part of the target
    r"|\[\[[ \t]*(?:\./)?(?P<target>[^\[\]|#\n]*[^\[\]|#\s\\])[ \t]*(?:\\*[|#][^\[\]\n]*)?\]\]"
    r"|\]\([ \t]*(?:\./)?(?P<file>[^\s()<>#?]*\.md)(?=[)#? \t])"
    r"|\]\([ \t]*<(?:\./)?(?P<angled>[^<>\n#?]*\.md)(?=[>#?])"
    r"|^ {0,3}\[[^\[\]\n]{1,200}\]:[ \t]*(?:\./)?(?P<defined>[^\s()<>#?]*\.md)(?=[#?\s]|\Z)",
    re.MULTILINE | re.DOTALL,
)

_SHOWS = re.compile("[|#]")  # a link that shows a text of its own, or leads to a heading

Found = Mapping[str, Note]  # by a link that leads nowhere, the note that it once led to


@dataclass(frozen=True, slots=True)
class Link:
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
    links = [
        (note.head.file, target)
        for note in notes
        for target in _link_targets(note)
        if fold_name(target) not in known
    ]
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
            if now and match[group] in shown and not _SHOWS.search(match[0]):
                line = match.string[match.string.rfind("\n", 0, match.start()) + 1 :]
                bar = "\\|" if line.lstrip().startswith("|") else "|"  # of a table, or of a link
                now = f"{now}{bar}{match[group]}"
        else:
            now = file_now(match[group]) if group in ("file", "angled", "defined") else None
        if not now:
            return match[0]
        at, end = (place - match.start() for place in match.span(group))
        return f"{match[0][:at]}{now}{match[0][end:]}"

    return _LINK.sub(replaced_link, text) if may_link(text) else text


def _link_targets(note: Note) -> dict[str, None]:
    """What the [[links]] of a note name, each once."""
    found = _LINK.finditer(note.body) if "[[" in note.body else ()
    return dict.fromkeys(match["target"] for match in found if match["target"])


def named_in(note: Note) -> list[str]:
    """What the links of a note say, in their order, each once: names, and of [text](file.md) the
    file without its ending."""
    if not may_link(note.body):
        return []
    names = dict[str, None]()
    for match in _LINK.finditer(note.body):
        if target := match["target"]:
            names[target] = None
        elif file := match["file"] or match["angled"] or match["defined"]:
            names[unquote(file).removesuffix(".md")] = None
    return [*names]
