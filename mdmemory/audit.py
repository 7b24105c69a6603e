"""What is wrong in any memory: notes of whichever program, instructions for assistants, JSON.

It only reads: no lock, no write, no link followed. A secret is named by its kind alone.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from stat import S_ISLNK
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from mdmemory import bounds, unseen
from mdmemory.capture.imports import markdown
from mdmemory.capture.imports.run import facts_of, graph_of, is_graph
from mdmemory.citing.citation import MAY_CITE
from mdmemory.citing.cite import find_paths
from mdmemory.compact.text_guards import plain
from mdmemory.errors import MdmemoryError
from mdmemory.files import read_regular, to_text
from mdmemory.git import repositories
from mdmemory.git.repositories import Repository
from mdmemory.note.note import SUPERSEDED, begins_head, decode, parse, split
from mdmemory.privacy import strip_private
from mdmemory.privacy.redaction import MARK, has_secret, names_secret, redact
from mdmemory.search.feeders import walk_folders
from mdmemory.store.note_links import fold_name, may_link, note_names
from mdmemory.store.project import OURS
from mdmemory.store.store import INDEX
from mdmemory.store.strangers import suspicion_of
from mdmemory.text import conflict
from mdmemory.text.conflict import count_negations
from mdmemory.text.literals import literal_tokens
from mdmemory.text.orders import is_order
from mdmemory.text.similarity import likeness_of
from mdmemory.text.words import word_keys

if TYPE_CHECKING:
    from mdmemory.audit_model import ModelReading

INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md")
_OF_NOTES = (INDEX, ".obsidian", "mdmemory.toml")  # beside them a CLAUDE.md is one note of many
_DATA = (".json", ".jsonl")
_ERRORS = ("hidden", "orders", "secrets", "unreadable")
# lines and bytes of which a client reads no more, or complains, by the name of the file
_LIMITS = {
    INDEX: (200, 25_000, "Claude Code reads its first 200 lines, and no more than 25 kB"),
    "CLAUDE.md": (40_000, 40_000, "Claude Code warns of more than about 40,000 characters"),
    "AGENTS.md": (32_768, 32_768, "Codex reads no more than 32 KiB"),
}
_MOST_BYTES = 64 * 1024 * 1024  # of JSON
_MOST_FILES = 100_000  # that a link may mean
_BEFORE = 40  # characters before a secret that are shown
_READ = 600  # characters of a line that are judged
_NEAR, _LEAST, _FEW = 0.85, 5, 20  # likeness, words, and others with a word that are compared
_OURS = OURS.decode()
_BATCH = 500  # paths on one command line
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_LINK = re.compile(
    r"\[\[[ \t]*([^\[\]|#\n]*[^\[\]|#\s\\])[^\[\]\n]*\]\]|\]\([ \t]*<?([^\s()<>#?]+)[^()\n]*\)"
    r"|(?<!\S)@([\w.][\w./-]*\.(?:mdc?|txt|json))\b"  # an import
)
_CODE = re.compile(r"`[^`\n]*`")
_ADDRESS = re.compile(r"[a-zA-Z][\w+.-]*:|//|[~$%{]")


class BadMemory(MdmemoryError):
    """What was named cannot be read as a memory."""

    code, exit_code = "bad_memory", 2


class AuditFinding(NamedTuple):
    """One thing to know: `level` is error or warning; `path` is below what was named."""

    check: str
    level: str
    path: str
    line: int
    message: str


class Text(NamedTuple):
    """A file; or a fact, whose `reader` reads it together with others, and which is `about`."""

    path: str
    line: int
    text: str
    reader: str = ""
    about: str = ""

    def line_of(self, place: int) -> int:
        """The line of a place; a fact of JSON stands on one."""
        return self.line if self.about else 1 + self.text.count("\n", 0, place)


_Found = Iterator[tuple[str, Text, int, str]]  # check, text, line, sentence


def audit(
    named: Path, around: Path, model: ModelReading | None = None
) -> tuple[int, list[AuditFinding]]:
    """How many files a memory has, and what is wrong in them. What it names of a project is looked
    for in the repository that it lies in, and in that of the folder `around`. A `model` reads its
    facts, too. Raises BadMemory."""
    path = Path(os.path.realpath(named.expanduser()))
    try:
        path.stat()
        reader = MemoryTexts(path if path.is_dir() else path.parent)
        reader.read(path)
    except OSError as problem:
        what = f"{named} cannot be read: {problem.strerror}."
        raise BadMemory(what, "Name a file or a folder that is there.") from problem
    except MdmemoryError as problem:
        raise BadMemory(problem.message, problem.hint.replace("Import", "Audit")) from problem
    if not reader.files:
        hint = "Name a folder of notes, a CLAUDE.md, AGENTS.md or GEMINI.md, or a JSON file."
        raise BadMemory(f"{named} holds no memory.", hint)
    places = {name: at for at, name in enumerate(reader.files)}
    rows = [(places[each.path], line, check, text)
            for check, each, line, text in reader.findings(around, model)]  # fmt: skip
    names = [*map(_clean, places)]
    return len(names), [
        AuditFinding(check, "error" if check in _ERRORS else "warning", names[at], line, text)
        for at, line, check, text in sorted(
            {(*row[:3], row[3] if row[2] == "secrets" else _clean(row[3])) for row in rows}
        )
    ]


def _clean(text: str) -> str:
    return unseen.shown_text(redact(text)[0] if names_secret(text) else text)


class MemoryTexts:
    """The texts and facts of a memory below `root`, and what of it cannot be read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, str] = {}  # their texts, "" of what is no markdown
        self.texts: list[Text] = []
        self.facts: list[Text] = []
        self.unread: list[tuple[str, Text, int, str]] = []
        self.names: set[str] = set()  # by which a note may be linked
        self.is_notes = True

    def read(self, path: Path) -> None:
        """Read a file or a folder. Raises OSError and MdmemoryError."""
        self.is_notes = path.name not in INSTRUCTIONS
        for each in self._list_files(path) if path.is_dir() else [path]:
            name = to_text(os.fsencode(each.relative_to(self.root)))
            try:
                self._read_file(each, name)
            except MdmemoryError as problem:
                if each == path:
                    raise
                self.files[name] = ""
                self.unread.append(("unreadable", Text(name, 1, ""), 1, problem.sentences))

    def _list_files(self, folder: Path) -> Sequence[Path]:
        os.listdir(folder)  # raises where nobody may look
        inner = folder / "memory"
        if inner.is_dir() and not inner.is_symlink() and not any(folder.glob("*.md")):
            self.root = folder = inner  # a project's folder of Claude Code
        if not any(os.path.lexists(folder / mark) for mark in _OF_NOTES):
            walked = walk_folders([folder], tuple(each.lower() for each in INSTRUCTIONS))
            named = [Path(file) for file, _ in walked if os.path.basename(file) in INSTRUCTIONS]
            if any(each.parent == folder for each in named):
                self.is_notes = False
                return named
        data = (Path(file) for file, _ in walk_folders([folder], _DATA))
        return markdown.markdown_files(folder) or [*data]

    def _read_file(self, path: Path, name: str) -> None:
        if path.suffix in _DATA:
            self.texts += self._read_json(name, decode(read_regular(path, _MOST_BYTES)))
            return
        self.files[name] = text = decode(read_regular(path))
        self.texts.append(Text(name, 1, text))
        reader = path.name if path.name in INSTRUCTIONS else ""
        note = parse(text.removeprefix("\ufeff"), path.name)
        if begins_head(note.text) and split(note.text)[0]:
            self.names |= note_names(note)
            about = note.head.description or note.body.strip()
            if note.head.status != SUPERSEDED and about:
                self.facts.append(Text(name, 1, note.body.strip() or about, reader, about))
            return
        self.facts += [
            Text(name, block.start, block.text, reader, block.text)
            for block in markdown.split_blocks(bounds.beginning_of(text))
            if not block.reason and not (name == INDEX and ".md)" in block.text)
        ]

    def _read_json(self, name: str, text: str) -> Iterator[Text]:
        """The facts of a file with their lines."""
        self.files[name] = ""
        lines = text.splitlines()
        try:
            has_rows = is_graph(next(filter(str.strip, lines), ""))
            parts = [*enumerate(lines, 1)] if has_rows else [(0, json.loads(text))]
        except (ValueError, RecursionError) as problem:
            raise BadMemory(f"{name} is no whole JSON.", "Export it again.") from problem
        place, line = 0, 1
        for number, part in parts:
            for fact in graph_of([part]) if number else facts_of(part, name):
                form = json.dumps(fact.text.split("\n")[0][:80], ensure_ascii=text.isascii())
                at = max(place, text.find(form[1:-1], place))
                line, place = line + text.count("\n", place, at), at + 1
                each = Text(name, number or line, fact.text, "", fact.text or name)
                if fact.reason == "unreadable":
                    message = "It is no JSON: mend this line, or take it out."
                    self.unread.append((fact.reason, each, each.line, message))
                elif not fact.reason:
                    self.facts.append(each)
                yield each

    def findings(self, around: Path, model: ModelReading | None = None) -> _Found:
        """All that is wrong."""
        yield from self.unread
        for each in self.texts:
            yield from text_findings(each)
        for name, text in self.files.items():
            yield from _file_findings(Text(name, 1, text))
            if may_link(text) or "@" in text:
                yield from self.link_findings(Text(name, 1, text))
        index = unquote(self.files.get(INDEX, _OURS))
        for name in self.files if not index.startswith(_OURS) else ():
            if name != INDEX and name not in index and f"[[{name.removesuffix('.md')}" not in index:
                message = f"{INDEX} does not list it, so no assistant knows of it: add a line."
                yield "unlisted", Text(name, 1, ""), 1, message
        yield from _gone_findings(self.texts, self.root, around)
        pairs = [*_list_pairs(self.facts)]
        if model is not None:
            pairs += _list_read_pairs(
                self.facts, {(one, other) for _, one, other, _ in pairs}, model
            )
        for check, one, other, text in pairs:
            place = f"{one.path}:{one.line}"
            yield check, other, other.line, text.replace("{}", place, 1)

    def link_findings(self, each: Text) -> _Found:
        """Links to what is not there."""
        is_code = False
        for number, line in enumerate(each.text.split("\n"), 1):
            is_code ^= _FENCE.match(line) is not None
            for wiki, target, other in [] if is_code else _LINK.findall(_CODE.sub("", line)):
                to = unquote(wiki or target or other)
                is_name = wiki and (not self.is_notes or fold_name(to) in self._link_names)
                is_text = other and os.path.basename(each.path) not in INSTRUCTIONS
                if is_text or is_name or _ADDRESS.match(to):
                    continue
                folder = "" if to.startswith("/") else os.path.dirname(each.path)
                if not is_there(self.root, os.path.join(folder, to.strip("/"))):
                    shown = f"[[{wiki}]]" if wiki else target or f"@{other}"
                    message = f"It links to {shown}, which is not there: correct it, or unlink it."
                    yield "links", each, number, message

    @cached_property
    def _link_names(self) -> set[str]:
        """How all may be linked: notes by their names, files by each end of their paths."""
        names = {*self.names}
        for path, _ in islice(walk_folders([self.root], ("",)), _MOST_FILES):
            parts = fold_name(os.path.relpath(path, self.root)).split("/")
            names.update("/".join(parts[at:]) for at in range(len(parts)))
        return names


def is_there(root: Path, path: str) -> bool:
    """Whether a path below a folder is there. What lies outside, or behind a link, is taken for
    there: nobody looks."""
    for part in os.path.normpath(path).split("/"):
        root /= part
        if part in ("..", "."):
            return True
        try:
            if S_ISLNK(os.lstat(root).st_mode):
                return True
        except (OSError, ValueError):  # it is not there, or no path
            return False
    return True


def text_findings(each: Text) -> _Found:
    """What must not stand in any text."""
    text = each.text
    for place, what in _secret_places(text) if has_secret(text) else ():
        message = f"It holds what looks like a secret ({what}): take it out, and replace the secret"
        yield "secrets", each, each.line_of(place), f"{message} where others may have seen it."
    bare = _CODE.sub(lambda match: " " * len(match[0]), text)
    left, blocks = strip_private(bare)
    if blocks:
        place = next((at for at, char in enumerate(left) if bare[at] != char), len(left))
        message = "It holds private text, which an assistant that reads it is given: take it out."
        yield "private", each, each.line_of(place), message
    if not suspicion_of(text) and not unseen.CONTROL.search(text):
        return
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        at = each.line if each.about else number
        if is_order(line[:_READ]):
            message = "It reads like an order to an assistant: take it out, unless it is yours."
            yield "orders", each, at, message
        hidden = {f"U+{ord(char):04X}" for char in unseen.CONTROL.findall(line.rstrip("\r"))}
        if codes := ", ".join(sorted({*hidden, *unseen.unseen_added([], line)})[:3]):
            message = f"It holds characters that nobody sees ({codes}): take them out."
            yield "hidden", each, at, message


def _secret_places(text: str) -> Iterator[tuple[int, str]]:
    """Where secrets begin, and their kinds, with the words before them: what is left of a text
    without its secrets stands between them."""
    clean, _ = redact(text)
    pieces = MARK.split(clean)
    place = len(pieces[0])
    for mark, before, piece in zip(MARK.findall(clean), pieces, pieces[1:], strict=False):
        if not text.startswith(mark, place):
            words = before[-_BEFORE:].rpartition("\n")[2].strip()
            yield place, mark[len("[redacted:") : -1] + (f", after {words!r}" if words else "")
        place = max(place, text.find(piece, place)) + len(piece)


def _file_findings(each: Text) -> _Found:
    """What is wrong with a file as a whole."""
    if begins_head(each.text) and (problem := split(each.text)[1].problem):
        yield "head", each, 1, problem
    limits = _LIMITS.get(os.path.basename(each.path))
    if limits is None or each.text.startswith(_OURS):
        return
    (most_lines, most_bytes, why), data = limits, each.text.encode()
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    over = [1 + data[:most_bytes].count(b"\n")] if len(data) > most_bytes else []
    if over := over + [most_lines + 1] * (lines > most_lines):
        message = f"It has {lines:,} lines and {len(data):,} bytes. {why}: move some elsewhere."
        yield "limit", each, min(over), message


def _gone_findings(texts: Sequence[Text], root: Path, around: Path) -> _Found:
    """Paths that a text names and git had: what never was there may be of anything."""
    tops: dict[Path, Repository] = {}
    for folder in (root, around):
        with suppress(MdmemoryError):  # damaged, or not ours to read
            if repository := repositories.find(folder):
                tops[repository.top] = repository
    missing: dict[str, list[tuple[Text, int, str]]] = defaultdict(list)
    for each in texts if tops else ():
        folder = root / os.path.dirname(each.path)
        inner = ["", *(os.path.relpath(folder, top) for top in tops)]
        for number, line in enumerate(each.text.split("\n"), 1):
            at = each.line if each.about else number
            for path in {m.path for m in find_paths(line)} if MAY_CITE.search(line) else ():
                is_odd = path[:1] in "/~" or "\0" in path
                if is_odd or any(is_there(top, path) for top in (folder, *tops)):
                    continue
                for where in {os.path.normpath(os.path.join(start, path)) for start in inner}:
                    missing[where].append((each, at, path))
    gone = {path for each in tops.values() for path in _once_there(each, [*missing])}
    for each, at, path in (place for where in gone for place in missing[where]):
        message = f"It names {path}, which git had and the project has no more: correct it."
        yield "citations", each, at, message


def _once_there(repository: Repository, paths: Sequence[str]) -> set[str]:
    """Those of these paths that a commit had, of a folder all that was in it."""
    gone = set[str]()
    how = ("diff-tree", "--stdin", "-r", "--root", "--no-commit-id", "--name-only", "-z", "--")
    for at in range(0, len(paths), _BATCH):
        some = paths[at : at + _BATCH]
        commits = repository.ask("rev-list", "HEAD", "--", *some) or b""
        for path in to_text(repository.ask(*how, *some, data=commits) or b"").split("\0"):
            parts = path.split("/")
            gone.update("/".join(parts[:end]) for end in range(1, len(parts) + 1))
    return gone.intersection(paths)


def _list_pairs(facts: Sequence[Text]) -> Iterator[tuple[str, Text, Text, str]]:
    """What is said twice, and what differs in one literal; the other stands for "{}"."""
    first: dict[tuple[str, str], Text] = {}
    once: list[Text] = []
    for each in facts:
        known = first.setdefault((each.reader, plain(each.text)), each)
        if known is each:
            once.append(each)
        elif len(word_keys(each.text)) >= conflict.LEAST:
            yield "duplicates", known, each, "It says the same as {}: keep one."
    abouts = [each.about for each in once]
    contrary = set[tuple[int, int]]()
    for one, other in conflict.find_pairs(abouts, [each.reader for each in once]):
        if odd := conflict.other_literal(abouts[other], abouts[one]):
            contrary.add((one, other))
            is_shown = not has_secret(abouts[one]) and not has_secret(abouts[other])
            why = conflict.why_contrary(odd) if is_shown else "the same words but for one"
            text = f"It and {{}} have {why}: correct the one that is wrong."
            yield "contradictions", once[one], once[other], text
    for one, other in _near_pairs(once):
        if (one, other) not in contrary:
            text = "It says almost the same as {}: make one of them."
            yield "duplicates", once[one], once[other], text


def _list_read_pairs(
    facts: Sequence[Text], known: Collection[tuple[Text, Text]], model: ModelReading
) -> Iterator[tuple[str, Text, Text, str]]:
    """What a model finds, besides the pairs that are known without it."""
    for check, at, to, reason in model.find_pairs([(each.about, each.text) for each in facts]):
        one, other = facts[min(at, to)], facts[max(at, to)]
        if (one, other) in known or one.reader != other.reader:
            continue
        why = f" ({reason})" if reason else ""
        if check == "duplicates":
            text = "A model reads the same in {}%s: make one of them."
        else:
            text = "A model reads that it and {} cannot both be true%s: correct the wrong one."
        yield check, one, other, text % why


def _near_pairs(facts: Sequence[Text]) -> Iterator[tuple[int, int]]:
    """The places of facts that share nearly all words, and each number and negation. Two such
    share one of the rarest words of each, so no look at each two is taken."""
    sets = [frozenset(word_keys(f"{each.about}\n{each.text}")) for each in facts]
    counts = Counter(word for each in sets for word in each)
    holders: dict[tuple[str, str], list[int]] = defaultdict(list)

    @cache
    def standing(at: int) -> tuple[frozenset[str], int]:
        return frozenset(literal_tokens(facts[at].text)), count_negations(facts[at].text)

    for at, words in enumerate(sets):
        if len(words) < _LEAST:
            continue
        rare = sorted(words, key=lambda word: (counts[word], word))
        rare = rare[: len(rare) - math.ceil(len(rare) * _NEAR / (2 - _NEAR)) + 1]
        lists = [holders[facts[at].reader, word] for word in rare]
        for other in sorted({other for each in lists for other in each[-_FEW:]}):
            if likeness_of(words, sets[other]) >= _NEAR and standing(at) == standing(other):
                yield other, at
        for each in lists:
            each.append(at)
