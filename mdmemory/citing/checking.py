"""Whether what notes cite still stands where they say, and if not, what became of it.

Judged from files and git's objects alone; no model is asked, and no network.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from mdmemory.citing import commits, judging
from mdmemory.citing.citation import Citation, parse, place
from mdmemory.citing.states import FRESH, GONE, MOVED, UNKNOWN, CheckedCitation, CitationVerdict
from mdmemory.citing.trails import Trail, Trails
from mdmemory.citing.uncommitted import Uncommitted
from mdmemory.citing.verdicts import Verdicts
from mdmemory.citing.versions import ProjectFiles, Version
from mdmemory.errors import GitFailed
from mdmemory.git import identity

_NOT_PINNED = "it is not pinned yet: `mdmemory confirm` pins it"
_ODD = "it cannot be read as a citation"
_NEVER = "this repository never held it, as far as its history reaches"
_UNREAD = "its history could not be read"
_SHALLOW = "this clone leaves out the commits that could tell"
_AT_ONCE = 50  # old versions that are held in memory
_NOT_THERE = CitationVerdict("")  # what is remembered of lines that a version does not have


class Checker:
    """Judges citations against the project as it is now, or as it was in the commit `at`. `tip` is
    the commit that is checked out, "" for none."""

    def __init__(
        self, files: ProjectFiles, known: Verdicts, tip: str, at: str | None = None
    ) -> None:
        self._files, self._known, self._at = files, known, at
        self._tip = tip if at is None else at
        self._versions: dict[str, Version | None] = {}
        self._blobs: dict[str, bytes | None] = {}

    def check(self, notes: Iterable[tuple[str, Sequence[str]]]) -> list[CheckedCitation]:
        """Every citation of these notes (file and citations), in their order."""
        every = [(file, cite) for file, cites in notes for cite in cites]
        parsed = {cite: parse(cite) for cite in dict.fromkeys(cite for _, cite in every)}
        right = {cite: citation for cite, citation in parsed.items() if citation is not None}
        with self._files.objects.open():
            found = self._judged(right)
        odd = CitationVerdict(UNKNOWN, why=_ODD)
        checked = []
        for file, cite in every:
            citation = parsed[cite]
            shown = citation.place if citation else cite
            checked.append(CheckedCitation(file, cite, shown, *found.get(cite, odd).values))
        return checked

    def _judged(self, cites: Mapping[str, Citation]) -> dict[str, CitationVerdict]:
        found = self._of_commits({cite: each for cite, each in cites.items() if each.is_commit})
        found |= self._of_folders({cite: each for cite, each in cites.items() if each.is_folder})
        files = {cite: each for cite, each in cites.items() if cite not in found}
        self._look({each.path for each in files.values()})
        for cite, each in files.items():
            if (verdict := self._at_a_glance(each)) is not None:
                found[cite] = verdict
        found |= self._compared({c: each for c, each in files.items() if c not in found})
        return found | self._followed({c: each for c, each in files.items() if c not in found})

    # --- commits and folders ---------------------------------------------------------------------

    def _of_commits(self, cites: Mapping[str, Citation]) -> dict[str, CitationVerdict]:
        ids = {cite: each.path.partition(":")[2] for cite, each in cites.items()}
        states = commits.states(self._files, {*ids.values()}, self._tip) if ids else {}
        return {cite: states[id] for cite, id in ids.items()}

    def _of_folders(self, cites: Mapping[str, Citation]) -> dict[str, CitationVerdict]:
        paths = {each.path for each in cites.values()}
        there = self._files.folders(self._tip, paths) if paths else set[str]()
        found = {cite: CitationVerdict(FRESH) for cite, e in cites.items() if e.path in there}
        lost = {cite: each for cite, each in cites.items() if cite not in found}
        trails = self._known_trails(lost)
        for cite, each in lost.items():
            if cite not in trails:
                path = self._trails.of_folder(each.path) if self._tip else ""
                trails[cite] = Trail(path)
                self._known.put_trail(cite, self._tip, trails[cite])
            if path := trails[cite].path:
                is_there = path in self._files.folders(self._tip, {path})
                found[cite] = CitationVerdict(MOVED, path) if is_there else CitationVerdict(GONE)
            else:
                found[cite] = self._absent(each)
        return found

    # --- files: where they are -------------------------------------------------------------------

    def _look(self, paths: Collection[str]) -> None:
        """Look at the files at these paths as they are."""
        fresh = [path for path in dict.fromkeys(paths) if path not in self._versions]
        if self._at is not None:
            found = self._files.at(self._at, fresh)
        else:
            known = self._known.files(len(fresh))
            found = self._files.now(fresh, known, self._known.put_file)
        self._versions |= {path: found.get(path) for path in fresh}

    def _version(self, path: str) -> Version | None:
        if path not in self._versions:
            self._look([path])
        return self._versions[path]

    def _at_a_glance(self, cite: Citation) -> CitationVerdict | None:
        """What is to be seen without reading: the file is as it was, or that alone was cited."""
        version = self._version(cite.path)
        if version is None:
            return None
        if not cite.lines or version.is_blob(cite.blob):
            return CitationVerdict(FRESH)
        is_pinned = cite.blob or cite.lines_hash
        return None if is_pinned else CitationVerdict(FRESH, why=_NOT_PINNED)

    # --- files: the same path --------------------------------------------------------------------

    def _compared(self, cites: Mapping[str, Citation]) -> dict[str, CitationVerdict]:
        """Those whose lines stand in the file at their path."""
        here = {
            cite: version for cite, each in cites.items()
            if (version := self._version(each.path)) is not None
        }  # fmt: skip
        known = self._known.verdicts([(cite, version.id) for cite, version in here.items()])
        found = {cite: verdict for (cite, _), verdict in known.items()}
        left = [cite for cite in here if cite not in found]
        # those of one file together, so that it is read and squeezed once
        left.sort(key=lambda cite: (cites[cite].path, cites[cite].blob))
        for at in range(0, len(left), _AT_ONCE):
            some = left[at : at + _AT_ONCE]
            self._fetch({cites[cite].blob for cite in some})
            for cite in some:
                old = self._blob(cites[cite].blob)
                found[cite] = self._in_place(cites[cite], old, here[cite]) or _NOT_THERE
                if old is not None or not self._is_cut_off:
                    self._known.put(cite, here[cite].id, found[cite])
        return {cite: verdict for cite, verdict in found.items() if verdict.state}

    def _in_place(
        self, cite: Citation, old: bytes | None, version: Version
    ) -> CitationVerdict | None:
        new = self._files.data(version)
        if new is None and self._files.is_link(version):
            return None  # the lines may be in the file to which it leads
        return judging.in_version(cite, old, new)

    # --- files: elsewhere ------------------------------------------------------------------------

    def _followed(self, cites: Mapping[str, Citation]) -> dict[str, CitationVerdict]:
        """What became of lines and files that are not where they were."""
        if not self._tip:
            return {cite: self._absent(each) for cite, each in cites.items()}
        trails = self._known_trails(cites)
        new = {cite: each for cite, each in cites.items() if cite not in trails}
        try:
            self._trails.read({each.path for each in new.values()})
            for cite, each in new.items():
                trails[cite] = self._trail(each)
                if not self._is_cut_off:
                    self._known.put_trail(cite, self._tip, trails[cite])
        except GitFailed:  # damaged, or so long a history that nobody waits for it
            pass
        found = {cite: CitationVerdict(UNKNOWN, why=_UNREAD) for cite in cites}
        self._look({trail.path for trail in trails.values()})
        against = {cite: self._against(trail) for cite, trail in trails.items()}
        known = self._known.verdicts([*against.items()])
        found |= {cite: verdict for (cite, _), verdict in known.items()}
        left = [cite for cite in trails if (cite, against[cite]) not in known]
        for at in range(0, len(left), _AT_ONCE):
            some = left[at : at + _AT_ONCE]
            self._fetch({b for cite in some for b in (cites[cite].blob, trails[cite].blob)})
            for cite in some:
                found[cite], is_lasting = self._at_its_end(cites[cite], trails[cite])
                if is_lasting and found[cite].state != UNKNOWN:
                    self._known.put(cite, against[cite], found[cite])
        return found

    def _against(self, trail: Trail) -> str:
        version = self._version(trail.path)
        stands = place(trail.path, trail.lines)
        return f"{version.id if version else '-'} {stands} {trail.blob}"

    def _trail(self, cite: Citation) -> Trail:
        if not cite.lines:
            return self._trails.of_file(cite.path)
        blob, lines = self._files.ids([cite.blob], "blob")[0] if cite.blob else "", cite.lines
        if not blob and (held := self._trails.holding(cite)):
            blob, lines = held.blob, held.lines or lines
        return self._trails.of_lines(cite.path, blob, lines) if blob else Trail(cite.path)

    def _at_its_end(self, cite: Citation, trail: Trail) -> tuple[CitationVerdict, bool]:
        """The verdict on a citation that leads to a trail, and whether it holds as long as the
        file there stays as it is."""
        version, path = self._version(trail.path), ""
        if version is None and trail.blob and self._at is None:
            path = self._uncommitted.renamed(trail.path)
        if not cite.lines and (path or version):
            return CitationVerdict(MOVED, path or trail.path), not path
        if trail.lines:
            follower = Citation(trail.path, trail.lines, trail.blob)
            if version is not None and (stands := self._stands(follower, version)):
                return CitationVerdict(MOVED, stands), True
            if self._at is None and (stands := self._uncommitted.lines(trail)):
                return CitationVerdict(MOVED, stands), False
        if version is None and path:
            version = self._version(path)
        if version is None:
            # HEAD's file may turn up at another path before that is committed
            return self._absent(cite), self._at is not None or not trail.blob
        # and so may the lines that HEAD still has
        return self._changed(cite, version), self._at is not None or not (trail.lines or path)

    def _stands(self, follower: Citation, version: Version) -> str:
        """Where the lines at the end of a trail stand in the file that is there; "": nowhere."""
        if version.is_blob(follower.blob):
            return follower.place
        old = self._blob(follower.blob)
        verdict = judging.in_version(follower, old, self._files.data(version))
        if verdict is None or verdict.state == UNKNOWN:
            return ""
        return verdict.now or follower.place

    def _changed(self, cite: Citation, version: Version) -> CitationVerdict:
        """Lines that are not in the file any more."""
        old = self._blob(cite.blob)
        if old is None and self._is_cut_off:
            return CitationVerdict(UNKNOWN, why=_SHALLOW)
        if old is None and cite.path == version.path and (held := self._trails.holding(cite)):
            cite, old = replace(cite, lines=held.lines), self._blob(held.blob)
        return judging.drifted(cite, old, self._files.data(version) or b"", version.path)

    def _blob(self, id: str) -> bytes | None:
        """What a blob holds; of those that are needed together it is read already."""
        if id not in self._blobs:
            self._fetch({id})
        return self._blobs[id]

    def _fetch(self, ids: Collection[str]) -> None:
        found = self._files.blobs(ids)
        self._blobs = {id: found.get(id) for id in ids}

    def _absent(self, cite: Citation) -> CitationVerdict:
        """A file or folder that is not there: gone, where the history knows it."""
        if self._is_cut_off:
            return CitationVerdict(UNKNOWN, why=_SHALLOW)
        path = cite.path.rstrip("/")
        is_known = bool(self._tip) and self._trails.knew(path)
        return CitationVerdict(GONE) if is_known else CitationVerdict(UNKNOWN, why=_NEVER)

    # --- what is asked for when it is needed -----------------------------------------------------

    def _known_trails(self, cites: Iterable[str]) -> dict[str, Trail]:
        """The trails that are known, as far as their ends are in this commit what they were."""
        known = self._known.trails(cites)
        found = {cite: trail for cite, (tip, trail) in known.items() if tip == self._tip}
        others = {cite: trail for cite, (_, trail) in known.items() if cite not in found}
        now = self._files.at(self._tip, {trail.path for trail in others.values()})
        for cite, trail in others.items():
            version, is_file = now.get(trail.path), not trail.path.endswith("/")
            if is_file and trail.path and (version.id if version else "") == trail.blob:
                found[cite] = trail
                self._known.put_trail(cite, self._tip, trail)
        return found

    @cached_property
    def _trails(self) -> Trails:
        return Trails(self._files, self._tip)

    @cached_property
    def _uncommitted(self) -> Uncommitted:
        return Uncommitted(self._files, self._tip)

    @cached_property
    def _is_cut_off(self) -> bool:
        """Whether the clone may lack commits or files that the project has."""
        return identity.is_shallow(self._files.repository) or self._files.is_partial
