"""What may be wrong with a store: a table of checks, each from the store to its findings.

Checks only look. A fix is done by `doctor --fix`, and only where nothing can be lost by it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from mdmemory.actions import attributes, renaming
from mdmemory.citing.citation import DRIFTED, CheckedCitation, parse
from mdmemory.errors import GitFailed, MdmemoryError, NoState
from mdmemory.git import index_file, private_folder, replacement, repositories
from mdmemory.git.journal import Journals
from mdmemory.git.transaction import Transactions
from mdmemory.note.note import SUPERSEDED
from mdmemory.store import adopt
from mdmemory.store.note_links import fold_name
from mdmemory.store.refresh import is_foreign
from mdmemory.store.state import State
from mdmemory.store.store import GENERATED, LEDGER, is_note_name
from mdmemory.store.strangers import WHY, sync_copies
from mdmemory.store.superseding import Chains
from mdmemory.store.writer import Group, Writer

_MOST_FOLDERS = 1_000  # of a store that are looked into
_SHOWN = 3  # notes or links that are named
_CITATIONS = 50  # outdated ones that are named; `mdmemory check` lists all
_LONGEST = 120  # characters of a citation that cannot be read
_LONG = 60.0  # seconds; git holds a lock on a branch for milliseconds


class Finding(NamedTuple):
    """One thing to know: `level` is error or warning; `path` is relative to the store, or ""."""

    check: str
    level: str
    path: str
    message: str
    fixable: bool = False


Check = Callable[[Writer], Iterator[Finding]]


def examine_store(
    writer: Writer, now: datetime, *, fix: bool = False, elsewhere: Collection[str] = ()
) -> list[Finding]:
    """The findings of all checks, in their order; `fix` first repairs what can be repaired safely.
    `now` tells how old a lock is."""
    if fix:
        _fix_safely(writer)
    findings: list[Finding] = []
    checks: list[Check] = [*CHECKS, partial(_check_links, elsewhere=elsewhere)]
    for check in checks:
        try:
            findings += check(writer)
        except GitFailed as problem:
            findings.append(Finding("git", "error", "", problem.sentences))
    return [*dict.fromkeys(findings), *_check_locks(writer, now)]


def _fix_safely(writer: Writer) -> None:
    """Do what is safe: finish an open journal, refresh the index, add missing attributes, and let
    links say the names that their notes have now."""
    with writer.lock_store():
        if writer.history:
            adopt.restore_lost(writer.refresher, writer.history)
        writer.refresher.refresh()
        if writer.refusal() is not None:
            return
        if changes := attributes.missing_lines(writer.history, writer.refresher.store):
            group = Group(f"mend {changes[0].file}", tuple(changes))
            writer.write("memory: mend what git is told of the store", [group], kind="mend")
        for links, subject in (
            (renaming.stray_links, "memory: links say the names of now"),
            (renaming.links_by_name, "memory: links name files, for Obsidian"),
        ):
            if groups := renaming.rewritten_notes(writer, links(writer)):
                writer.write(subject, groups, kind="edit")
                writer.refresher.forget()


def _check_git(writer: Writer) -> Iterator[Finding]:
    # covers git missing, no repository, a merge under way, a detached HEAD, a foreign index.lock
    if problem := writer.refusal():
        level = "error" if writer.trouble else "warning"
        yield Finding("git", level, "", problem.sentences)
    head, own = writer.history.head() if writer.history else None, writer.repository
    if head and own and own.ask("cat-file", "-e", f"{head}^{{tree}}") is None:
        message = (
            f"git has lost the last commit ({head[:10]}), and nothing can be committed: "
            f"`git -C {own.top} fsck` says what is missing. The notes are on disk."
        )
        yield Finding("git", "error", "", message)


def _check_journal(writer: Writer) -> Iterator[Finding]:
    places = [Journals(writer.project.private, writer.project.store)]
    if writer.repository:
        places.append(Journals(writer.repository.room, writer.repository.top))
    for place in filter(Journals.is_open, places):
        try:
            journal = place.read()
        except MdmemoryError as problem:
            yield Finding("journal", "error", "", problem.sentences)
            continue
        message = "A write was interrupted; the next one finishes it."
        yield Finding("journal", "warning", "", message, fixable=True)
        moves = journal.moves if journal else ()
        for file in replacement.list_awaited(writer.project.store, moves):
            message = "The interrupted write puts it in place. If you removed it, do so again then."
            yield Finding("journal", "warning", file, message)


def _check_readable(writer: Writer) -> Iterator[Finding]:
    for head in writer.refresher.catalog().heads():
        problems = [*head.problems]
        try:
            date.fromisoformat(head.expires or str(date.max))
        except ValueError:
            problems.append(
                "Its `expires` is no day, so it stays for ever: write YYYY-MM-DD, or take it out."
            )
        if problems:
            yield Finding("note", "warning", head.file, " ".join(problems))


def _check_names(writer: Writer) -> Iterator[Finding]:
    heads, seen = writer.refresher.catalog().heads(), dict[str, str]()
    for head in heads:
        other = seen.setdefault(head.name.casefold(), head.file)
        if other != head.file:
            message = f"It has the name {head.name}, as {other} does: rename one of them."
            yield Finding("names", "warning", head.file, message)
    # an alias of two notes leads to neither, unless a note has it as its name
    names = frozenset(seen)
    for file, alias in ((head.file, alias) for head in heads for alias in head.aliases):
        other = seen.setdefault(alias.casefold(), file)
        if other != file and alias.casefold() not in names:
            message = f"It has the alias {alias[:80]}, as {other} does: take it out of one."
            yield Finding("names", "warning", file, message)


def _check_strangers(writer: Writer) -> Iterator[Finding]:
    """Entries that look like notes and are none: links, folders, FIFOs, undecodable names. And
    files that are none, which no commit holds."""
    others = []
    with os.scandir(writer.project.store) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            shown = entry.name.encode("utf-8", "replace").decode()
            if not is_note_name(entry.name) and entry.name not in (*GENERATED, LEDGER):
                if shown[0] not in "._" and entry.is_file(follow_symlinks=False):
                    others.append(shown)
            elif entry.is_symlink():
                yield Finding("files", "warning", shown, "It is a link, and is not followed.")
            elif not entry.is_file(follow_symlinks=False):
                yield Finding("files", "warning", shown, "It is not a regular file, so no note.")
            elif shown != entry.name:
                yield Finding("files", "warning", shown, "Its name is not UTF-8: rename it.")
    git = writer.history
    tree = git.read_tree(git.head(), others) if git and others else others
    for shown in (each for each in others if each not in tree):
        message = "It is no note, so no commit of ours takes it along: commit it, or import it."
        yield Finding("files", "warning", shown, message)


def _check_folders(writer: Writer) -> Iterator[Finding]:
    """Notes in folders of the store, where nobody reads them."""
    store = writer.project.store
    inside = []
    for folder, folders, files in islice(os.walk(store), _MOST_FOLDERS):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        place = os.path.relpath(folder, store)
        if place != os.curdir:
            inside += [f"{place}/{file}" for file in sorted(files) if is_note_name(file)]
    if inside:
        count = "1 note lies" if len(inside) == 1 else f"{len(inside)} notes lie"
        first = shlex.quote(str(store / inside[0].partition("/")[0]))
        message = (
            f"{count} in folders of the store, and only notes at its top are read: "
            f"{_some_names(inside)}. `mdmemory import {first}` copies them."
        )
        yield Finding("folders", "warning", "", message.encode("utf-8", "replace").decode())


def _some_names(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if names[_SHOWN:] else "")


def _check_lost(writer: Writer) -> Iterator[Finding]:
    if writer.history and (seen := adopt.look_at_folder(writer.refresher, writer.history)).lost:
        problem = adopt.sudden_loss(seen, writer.project.store)
        yield Finding("loss", "error", "", problem.sentences, fixable=True)


def _check_copies(writer: Writer) -> Iterator[Finding]:
    catalog = writer.refresher.catalog()
    for file, base in sorted(sync_copies(catalog.names).items()):
        what = "Remove it." if base in GENERATED else "Settle it: `mdmemory review`."
        message = f"It is another text of {base}, which a sync tool kept, and is not listed. {what}"
        yield Finding("copies", "warning", file, message)


def _check_held(writer: Writer) -> Iterator[Finding]:
    catalog = writer.refresher.catalog()
    for file, why in sorted(catalog.waiting.items()):
        yield Finding(
            "waiting", "warning", file,
            f"It waits, unlisted and uncommitted: {WHY[why]}. If you stand by it: "
            f"`mdmemory review {file.removesuffix('.md')} keep`; else remove it.",
        )  # fmt: skip
    for file in sorted(catalog.held - catalog.waiting.keys()):
        yield Finding(
            "secrets", "error", file,
            "It is on hold: it holds what looks like a secret. Take it out, or put "
            "`secrets: allowed` under metadata.",
        )  # fmt: skip


def _check_links(writer: Writer, elsewhere: Collection[str]) -> Iterator[Finding]:
    links, is_ready = renaming.stray_links(writer), writer.refusal() is None
    mendable = renaming.mendable_links(writer, links) if is_ready else {}
    dead: dict[str, list[str]] = {}
    for link in links:
        if link in mendable.get(link.file, ()):
            message = f"It links to [[{link.target}]], which is [[{link.now}]] now."
            yield Finding("links", "warning", link.file, message, fixable=True)
        elif not link.now and fold_name(link.target) not in elsewhere:
            dead.setdefault(link.file, []).append(f"[[{link.target}]]")
    for file, targets in dead.items():
        message = (
            f"It links to {_some_names(targets)}, and there is no such note: add it, or unlink it."
        )
        yield Finding("links", "warning", file, message)


_MARKS = {
    "missing": "and there is no such note. If it holds again, take the mark out",
    "unnamed": "and not by which note: name it as `superseded_by`, or take the mark out",
    "circle": "and that note leads back here: take the mark out of the one that holds",
}


def _check_superseded(writer: Writer) -> Iterator[Finding]:
    """Marks that lead to no note in force."""
    if not writer.refresher.catalog().with_status(SUPERSEDED):
        return
    for broken in Chains(writer.refresher.store.notes()).broken_marks():
        by = broken.note.note.head.superseded_by
        message = f"It is marked as superseded{f' by {by}' if by else ''}, {_MARKS[broken.why]}."
        yield Finding("superseded", "warning", broken.note.file, message)


def _check_obsidian(writer: Writer) -> Iterator[Finding]:
    """Links that Obsidian, where it opens the folder, takes for notes yet to be written."""
    links = renaming.links_by_name(writer)
    if not links or writer.refusal() is not None:
        return
    for file, some in renaming.mendable_links(writer, links).items():
        shown = _some_names([f"[[{link.target}]]" for link in some])
        message = (
            f"Obsidian knows notes by their files alone and does not follow {shown}; the form is "
            f"[[{some[0].now}|{some[0].target}]]."
        )
        yield Finding("obsidian", "warning", file, message, fixable=True)


def _check_index(writer: Writer) -> Iterator[Finding]:
    folder = writer.project.store
    for name in GENERATED:
        try:
            foreign = is_foreign(folder / name)
        except MdmemoryError as problem:
            yield Finding("index", "error", name, problem.sentences)
            return
        if foreign:
            message = "It was not generated by mdmemory: `mdmemory init` keeps it as a note."
            yield Finding("index", "error", name, message)
            return
    for name in writer.refresher.refresh(write=False).changed:
        message = "It is not what the notes say: `mdmemory index`."
        yield Finding("index", "warning", name, message, fixable=True)


def _check_attributes(writer: Writer) -> Iterator[Finding]:
    if writer.history is None:
        return
    store = writer.refresher.store
    if not attributes.same_bytes(writer.history, store):
        yield Finding(
            "line-ends", "warning", ".gitattributes",
            "git converts line ends of notes at checkout, so a commit of ours would change every "
            "line. Set `git config core.autocrlf false`, check the notes out anew, and run "
            "`mdmemory init` again.",
        )  # fmt: skip
    for change in attributes.missing_lines(writer.history, store):
        message = "Lines are missing that keep the bytes of notes and merges quiet."
        yield Finding("attributes", "warning", change.file, message, fixable=True)
    if name := attributes.filtered_by(writer.history, ["reference-sample.md"]):
        message = f"A content filter ({name}) applies to notes: git does not hold their bytes."
        yield Finding("filter", "error", ".gitattributes", message)


def _check_unseen(writer: Writer) -> Iterator[Finding]:
    """Notes that git does not look at, and texts that no name leads to."""
    for path in replacement.find_late_texts(writer.project.store):
        message = "It holds text that was saved while a note was replaced: look at it."
        yield Finding("aside", "warning", path.name, message)
    files = writer.refresher.store.files()
    unseen = Transactions(writer.history).list_unseen(files) if writer.history else {}
    for file, why in sorted(unseen.items()):
        message = f"It {why}: no commit of ours holds it, and it cannot be changed through us."
        yield Finding("unseen", "warning", file, message)


def _check_private(writer: Writer) -> Iterator[Finding]:
    folder, file = writer.project.private, writer.project.state_file
    try:
        private_folder.check(folder)
        entries = [folder / name for name in sorted(os.listdir(folder))]
    except FileNotFoundError:
        return
    except (NoState, OSError) as problem:
        if isinstance(problem, OSError):
            problem = private_folder.as_refusal(folder, problem)
        yield _state_finding(folder, problem)
        return
    for path in entries:
        # what SQLite lays beside a database goes with its last connection; hooks meet at a socket
        if not os.path.lexists(path) or (path.is_socket() and not path.is_symlink()):
            continue
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            message = f"It is neither file nor folder. {private_folder.moving_step(path)}"
            yield Finding("state", "error", str(path), message)
        elif path == file:
            with State(path) as state:
                if state.trouble:
                    yield _state_finding(path, state.trouble)


def _state_finding(path: Path, problem: NoState) -> Finding:
    return Finding("state", "error", str(path), f"It {problem.what}. {problem.hint}")


def _check_locks(writer: Writer, now: datetime) -> Iterator[Finding]:
    """Locks of git's on the branch that no living git holds so long."""
    own = writer.repository
    branch = repositories.read_branch(own) if own else None
    for lock in index_file.locks_on(own, branch) if own and branch else ():
        with suppress(FileNotFoundError):  # gone by now
            if now.timestamp() - lock.lstat().st_mtime > _LONG:
                message = "No commit is made while it is there: if no git runs any more, remove it."
                yield Finding("git", "warning", str(lock), message)


def _check_citations(writer: Writer) -> Iterator[Finding]:
    """Citations that cannot be read, and of those that the project does not hold any more the
    first."""
    heads = writer.refresher.catalog().citing()
    for head in heads:
        for cite in head.cites:
            if parse(cite) is None:
                message = f"It cites {cite[:_LONGEST]!r}, and that is no PATH#L10-L20."
                yield Finding("citations", "warning", head.file, message)
    from mdmemory.citing.check import check_citations  # few notes cite

    problems: Sequence[CheckedCitation] = ()
    with suppress(MdmemoryError, OSError):
        files = [(head.file, head.cites) for head in heads]
        problems = check_citations(writer.project, files) if files else ()
    for each in [each for each in problems if each.is_outdated][:_CITATIONS]:
        what = "changed" if each.state == DRIFTED else "is gone"
        fix = f"If it still holds: `mdmemory review {each.file.removesuffix('.md')} keep`."
        message = f"It cites {each.place}, which {what}. {fix}"
        yield Finding("citations", "warning", each.file, message)


def _check_nesting(writer: Writer) -> Iterator[Finding]:
    """A repository of its own inside another: what is built there may take it along, and what
    empties that deletes it, history and all."""
    project, own = writer.project, writer.repository
    outer = next((up for up in project.store.parents if (up / ".git").exists()), None)
    if own is None or outer is None or not os.path.samefile(own.top, project.store):
        return
    lines = " and ".join(
        f"`{path.relative_to(outer).as_posix()}/`"
        for path in (project.store, project.private)
        if path.is_relative_to(outer)
    )
    message = (
        f"Packages and images that are built from {outer} may take it along: add {lines} to "
        ".npmignore, .dockerignore, or what your builder reads."
    )
    yield Finding("packages", "warning", "", message)
    if not own.ask("remote"):
        message = (
            f"It lies in {outer} and nowhere else: `git clean -ffdx` there deletes it with its "
            "history. `mdmemory move` takes it out; `mdmemory sync --remote URL` makes a copy."
        )
        yield Finding("place", "warning", "", message)


CHECKS: tuple[Check, ...] = (
    _check_git, _check_journal, _check_lost, _check_private, _check_strangers, _check_folders,
    _check_readable, _check_names, _check_copies, _check_held, _check_superseded, _check_index,
    _check_attributes, _check_unseen, _check_obsidian, _check_citations, _check_nesting,
)  # fmt: skip
