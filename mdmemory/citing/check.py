"""Whether what notes cite still stands where they say, and if not, what became of it.

Judged from git's objects alone; no model is asked, and no network. What a check found out lies in
`.mdmemory/citations.json` for those that have no time to check: searches, messages, the inbox.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from os.path import basename, commonpath
from typing import NamedTuple

from mdmemory.citing import lines as lines_of_files
from mdmemory.citing.citation import (
    COMMIT,
    DRIFTED,
    FRESH,
    GONE,
    MOVED,
    UNKNOWN,
    CheckedCitation,
    Citation,
    CitationVerdict,
    parse,
    write_place,
)
from mdmemory.citing.lines import Comparison, Hunk, Span, Squeezed
from mdmemory.citing.snapshot import FOLDERS, FileEdit, Snapshot, repository_of, take_snapshot
from mdmemory.errors import GitFailed, MdmemoryError, NoGit, NotFound
from mdmemory.files import MAX_FILE, read_if_there, write_atomic
from mdmemory.git import repositories
from mdmemory.git.log import Touched
from mdmemory.git.repositories import Repository
from mdmemory.store.project import Project

NAME = "citations.json"
_HOPS = 20  # moves that are followed
_VERSIONS = 50  # of a file that are looked into for lines of which only the hash is known
_OTHERS = 200  # files of one commit that are looked into
_SHOWN, _WIDE = 40, 200  # lines of a diff, and characters of one of them

_NOT_PINNED = "it is not pinned yet: `mdmemory review NAME keep` pins it"
_ODD = "it cannot be read as a citation"
_NEVER = "this repository never held it, as far as its history reaches"
_UNREAD = "its history could not be read"
_SHALLOW = "this clone leaves out the commits that could tell"
_LARGE = "the file is too large to be compared, or is no text"
_UNFIT = "its pin does not fit its lines: `mdmemory review NAME keep` pins it anew"
_NO_VERSION = "the version that it cites is not in this repository, so there is no diff"
_ELSEWHERE = "the commit is on another branch"
_DROPPED = "no branch has the commit any more"
_NOT_HERE = "the commit is not in this repository"

Notes = Iterable[tuple[str, Sequence[str]]]  # the file of each, and its citations


def check_citations(
    project: Project, notes: Notes, patience: float | None = None
) -> list[CheckedCitation]:
    """Every citation of these notes as it stands now, in their order, which is recorded.
    `patience`: seconds that one command of git may take. Raises NoGit where there is no project."""
    repository = require_repository(project)
    repository.patience = patience or repository.patience
    with take_snapshot(repository) as (now, tip):
        checked = _check_all(now, tip, notes)
    rows = {each.cite: [each.state, each.now, each.diff, each.why] for each in checked}
    known = _read_known(project)
    if any(known.get(cite) != row for cite, row in rows.items()):
        with suppress(MdmemoryError, OSError):
            text = json.dumps({**known, **rows}, ensure_ascii=False, indent=0)
            write_atomic(project.prepare_private() / NAME, text.encode(), mode=0o600)
    return checked


def drifted_since(project: Project, notes: Notes, revision: str) -> list[CheckedCitation]:
    """The citations that stood until a revision and do not any more, or of which this clone cannot
    tell whether they do: of a branch, since it left that. Raises NotFound for no revision, and
    where the clone leaves out what came since; NoGit where there is no project."""
    with take_snapshot(require_repository(project)) as (now, tip):
        base = _base_of(now, revision)
        checked = _check_all(now, tip, notes)
        lost = [each for each in checked if each.is_outdated or each.state == UNKNOWN]
        now.now = base
        then = _check_all(now, base, ((each.file, [each.cite]) for each in lost))
    pairs = zip(lost, then, strict=True)
    return [
        each for each, before in pairs
        if (not before.is_outdated if each.is_outdated else before.state in (FRESH, MOVED))
    ]  # fmt: skip


def require_repository(project: Project) -> Repository:
    """The repository of a store's project. Raises NoGit where there is none."""
    if (repository := repository_of(project)) is None:
        raise NoGit(
            f"{project.store} is the store of no project that is here, and only notes of a project "
            "cite.",
            "Run it in the project's folder.",
        )
    return repository


def recorded_citations(project: Project, notes: Notes) -> dict[str, tuple[CheckedCitation, ...]]:
    """What the last check found out of that which some notes cite, by the file of the note."""
    known, citations = _read_known(project), dict[str, tuple[CheckedCitation, ...]]()
    for file, cites in notes if known else ():
        rows = [(cite, known[cite]) for cite in cites if cite in known]
        shown = [_shown_citation(file, cite, parse(cite), CitationVerdict(*r)) for cite, r in rows]
        citations |= {file: tuple(shown)} if shown else {}
    return citations


def _read_known(project: Project) -> Mapping[str, Sequence[str]]:
    with suppress(MdmemoryError, ValueError):
        known = json.loads(read_if_there(project.private / NAME, 8 * MAX_FILE) or b"{}")
        kinds = [str for _ in CitationVerdict._fields]
        rows = known.items() if isinstance(known, dict) else ()
        return {c: row for c, row in rows if isinstance(row, list) and [*map(type, row)] == kinds}
    return {}


def _base_of(now: Snapshot, revision: str) -> str:
    """The commit from which a change is counted: the last one that HEAD has of a revision."""
    name = "" if revision.startswith("-") or not revision.isprintable() else revision
    commit = now.project.ask("rev-parse", "-q", "--verify", f"{name}^{{commit}}") if name else None
    if commit is None:
        raise NotFound(
            f"The project has no commit {revision!r}.",
            "`git log` lists what there is, and `git fetch` brings what is elsewhere.",
        )
    commit_found = now.project.ask("merge-base", commit.decode().strip(), "HEAD")
    if not commit_found and repositories.is_shallow(now.project):
        raise NotFound(
            f"This clone leaves out the commits since the branch left {revision}.",
            "`git fetch --unshallow` brings them; in CI, check out the whole history.",
        )
    return (commit_found or commit).decode().split()[0]


def _check_all(now: Snapshot, tip: str, notes: Notes) -> list[CheckedCitation]:
    every = [(file, cite) for file, cites in notes for cite in cites]
    parsed = {cite: parse(cite) for _, cite in every}
    files = [each for each in parsed.values() if each and not each.is_commit]
    now.look(each.path.rstrip("/") for each in files)
    lines = [each for each in files if each.lines]
    entries = filter(None, (now.entry(each.path) for each in lines))
    now.look_for_blobs([*(each.blob for each in lines), *(entry.id for entry in entries)])
    judge = _Judge(now, tip)
    verdicts = {cite: judge.verdict(each) for cite, each in parsed.items()}
    return [_shown_citation(file, cite, parsed[cite], verdicts[cite]) for file, cite in every]


def _shown_citation(
    file: str, cite: str, parsed: Citation | None, verdict: CitationVerdict
) -> CheckedCitation:
    return CheckedCitation(file, cite, parsed.place if parsed else cite, *verdict)


class _Lines(NamedTuple):
    """Lines of a blob that was at a path."""

    path: str
    blob: str
    span: Span


class _Judge:
    """Judges citations against a snapshot of the project; `tip` is the commit checked out."""

    def __init__(self, now: Snapshot, tip: str) -> None:
        self._now, self._tip = now, tip

    def verdict(self, cite: Citation | None) -> CitationVerdict:
        """How a citation stands."""
        if cite is None:
            return CitationVerdict(UNKNOWN, why=_ODD)
        try:
            if cite.is_commit:
                [commit] = self._now.ids([cite.path.removeprefix(COMMIT)], "commit")
                if not commit:
                    return CitationVerdict(UNKNOWN, why=_NOT_HERE)
                if self._tip and repositories.is_ancestor(self._now.project, commit, self._tip):
                    return CitationVerdict(FRESH)
                if self._now.project.ask("for-each-ref", "--count=1", f"--contains={commit}"):
                    return CitationVerdict(UNKNOWN, why=_ELSEWHERE)
                return CitationVerdict(GONE, why=_DROPPED)
            entry = None if cite.is_folder else self._now.entry(cite.path)
            if entry and (not cite.lines or (cite.blob and entry.id.startswith(cite.blob))):
                return CitationVerdict(FRESH)
            if entry and not (cite.blob or cite.lines_hash):
                return CitationVerdict(FRESH, why=_NOT_PINNED)
            if cite.lines and not cite.is_folder:
                return self._of_lines(cite, cite.lines)
            path = self._path_now(cite.path)
            if path == cite.path:
                return CitationVerdict(FRESH)
            return CitationVerdict(MOVED, path) if path else self._absent_verdict(cite)
        except GitFailed:  # damaged, or so long a history that nobody waits for it
            return CitationVerdict(UNKNOWN, why=_SHALLOW if self._now.is_cut_off else _UNREAD)

    def _path_now(self, path: str) -> str:
        """Where a file or folder is now that was at a path; "" where it is gone."""
        is_folder = path.endswith("/")
        for _ in range(_HOPS):
            entry = self._now.entry(path.rstrip("/"))
            if entry and (not is_folder or entry.mode in FOLDERS):
                return path
            edits = self._now.path_edits(path.rstrip("/"))
            pairs = dict.fromkeys((e.parent, e.commit) for e in edits if is_folder or not e.after)
            path = next(filter(None, (self._new_path(path, *each) for each in pairs)), "")
            if not path:
                break
        return ""

    def _new_path(self, path: str, parent: str, commit: str) -> str:
        """The path that a commit gave a file, or the folder to which it took most files of one; ""
        for none."""
        changes = self._now.changes(parent, commit)
        if not path.endswith("/"):
            return next((each.path for each in changes if each.old_path == path), "")
        inside = [each for each in changes if (each.old_path or each.path).startswith(path)]
        tails = [(each.path, each.old_path[len(path) :]) for each in inside if each.old_path]
        went = [new.removesuffix(tail) for new, tail in tails if new.endswith(f"/{tail}")]
        best = max(went, key=went.count, default="")
        return best if 2 * went.count(best) > len(inside) else ""

    # --- lines

    def _of_lines(self, cite: Citation, lines: tuple[int, int]) -> CitationVerdict:
        at = self._cited_lines(cite, lines)
        if isinstance(at, CitationVerdict):
            return at
        for _ in range(_HOPS):
            entry = self._now.entry(at.path)
            if stands := self._lines_standing(at, entry.id if entry else ""):
                text = self._blob_text(stands.blob)
                now = write_place(stands.path, text.in_file(stands.span))
                state = FRESH if stands.path == cite.path else MOVED
                is_same = state == FRESH and stands.span == text.span(lines)
                return CitationVerdict(state, "" if is_same else now)
            if (moved := self._lines_moved(at)) is None:
                break
            at = moved
        return self._changed_verdict(cite, at if at.path != cite.path else None)

    def _cited_lines(self, cite: Citation, lines: tuple[int, int]) -> _Lines | CitationVerdict:
        """The cited lines in the version that is cited, or in another one that has them."""
        blob = self._now.blob(cite.blob)
        entry = self._now.entry(cite.path)
        if entry and not self._blob_text(entry.id).is_text:
            return CitationVerdict(UNKNOWN, why=_LARGE)
        if blob and (text := self._now.text(blob)):
            span = text.span(lines)
            if cite.lines_hash and lines_of_files.lines_hash(text.text(span)) != cite.lines_hash:
                return CitationVerdict(UNKNOWN, why=_UNFIT)
            return _Lines(cite.path, blob, span) if span[0] < span[1] else CitationVerdict(FRESH)
        past = [] if self._now.is_cut_off else self._now.path_edits(cite.path)[:_VERSIONS]
        for each in (entry.id if entry else "", *(edit.before or edit.after for edit in past)):
            if each and (stands := self._blob_text(each).by_hash(lines, cite.lines_hash)):
                return _Lines(cite.path, each, stands)
        return self._changed_verdict(cite, None)

    def _blob_text(self, blob: str) -> Squeezed:
        return self._now.text(blob) or Squeezed(b"\0")

    def _compare_blobs(self, old: str, new: str) -> Comparison:
        texts = self._blob_text(old), self._blob_text(new)
        return Comparison(*texts, self._now.blob_hunks(old, new))

    def _lines_standing(self, at: _Lines, new: str, path: str = "") -> _Lines | None:
        """Where lines stand in another blob, which is at a path; None: they are not there."""
        if not new or not self._now.text(new):
            return None
        if new == at.blob:
            return _Lines(path or at.path, new, at.span)
        span = lines_of_files.find_plainly(self._blob_text(at.blob), self._blob_text(new), at.span)
        span = span or self._compare_blobs(at.blob, new).standing_lines(at.span)
        return _Lines(path or at.path, new, span) if span else None

    def _lines_moved(self, at: _Lines) -> _Lines | None:
        """Where lines went, in the newest commit that took them away from their path."""
        text = self._blob_text(at.blob).text(at.span)
        for edit in self._now.path_edits(at.path):
            is_there = edit.before and text in self._blob_text(edit.before).flat
            before = self._lines_standing(at, edit.before) if is_there else None
            if before and not self._lines_standing(before, edit.after):
                return self._moved_in(edit, before)
        return None

    def _moved_in(self, edit: FileEdit, at: _Lines) -> _Lines | None:
        """Where one commit put the lines: into the file that it renamed, else into another one."""
        touched = self._now.changes(edit.parent, edit.commit)
        changes = [(each, each.blob) for each in touched if each.blob]
        for each, blob in changes:
            if each.old_path == at.path and (stands := self._lines_standing(at, blob, each.path)):
                return stands
        source = self._blob_text(at.blob)
        if edit.after and self._compare_blobs(at.blob, edit.after).is_edited(at.span):
            return None

        def distance(pair: tuple[Touched, str]) -> tuple[bool, int, str]:
            # the likeliest files first: those of the same name, then the nearest
            path = pair[0].path
            return basename(at.path) != basename(path), -len(commonpath((at.path, path))), path

        others = sorted((pair for pair in changes if pair[0].path != at.path), key=distance)
        for each, blob in others[:_OTHERS]:
            new = self._blob_text(blob)
            if source.text(at.span) not in new.flat:
                continue
            old = self._now.entry(each.old_path or each.path, edit.parent)
            there = (
                self._compare_blobs(old.id, blob) if old
                else Comparison(Squeezed(b""), new, [Hunk(0, 0, 0, new.numbers[-1])])
            )  # fmt: skip
            if span := there.arrived_lines(source, at.span, lines_of_files.IN_FILES):
                return _Lines(each.path, blob, span)
        return None

    def _changed_verdict(self, cite: Citation, last: _Lines | None) -> CitationVerdict:
        """The verdict on lines that are nowhere any more; `last`: where they were followed to."""
        path = self._path_now(last.path if last else cite.path)
        if not path:
            return self._absent_verdict(cite)
        blob = self._now.blob(cite.blob)
        entry, now = self._now.entry(path), path if path != cite.path else ""
        if not blob and self._now.is_cut_off:
            return CitationVerdict(UNKNOWN, why=_SHALLOW)
        if not blob or not entry or not cite.lines or not self._blob_text(entry.id).is_text:
            return CitationVerdict(DRIFTED, now, why="" if blob else _NO_VERSION)
        compared = self._compare_blobs(blob, entry.id)
        instead = compared.lines_instead(compared.old.span(cite.lines))
        # without lines: nothing was put in their place
        stands = compared.new.in_file(instead) if instead[0] < instead[1] else None
        now = write_place(path, stands)
        old = self._blob_rows(blob, cite.lines)
        new = self._blob_rows(entry.id, stands) if stands else []
        from difflib import unified_diff  # only where something was changed

        from mdmemory.privacy.redaction import redact

        rows = [*unified_diff(old, new, n=_SHOWN, lineterm="")][3:]
        diff, _ = redact("\n".join(rows[:_SHOWN]))
        return CitationVerdict(DRIFTED, "" if now == cite.place else now, diff)

    def _blob_rows(self, blob: str, lines: tuple[int, int]) -> list[str]:
        """Some lines of a blob, at most as many as are shown of a diff."""
        first, last = lines
        data = (self._now.data(blob) or b"").split(b"\n", last)
        some = data[first - 1 : min(last, first - 1 + _SHOWN)]
        return [line.decode("utf-8", "replace").rstrip()[:_WIDE] for line in some]

    def _absent_verdict(self, cite: Citation) -> CitationVerdict:
        """A file or folder that is not there: gone, where the history knows it."""
        if self._now.is_cut_off:
            return CitationVerdict(UNKNOWN, why=_SHALLOW)
        is_known = bool(self._now.path_edits(cite.path.rstrip("/")))
        return CitationVerdict(GONE) if is_known else CitationVerdict(UNKNOWN, why=_NEVER)
