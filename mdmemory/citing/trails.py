"""Where cited lines went in a project's history: with a renamed file, or into another file.

Each commit that took the lines away is looked for, on every branch; what it did is followed, and
so on. Git's objects alone are read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from os.path import basename, commonpath

from mdmemory.citing.citation import Citation
from mdmemory.citing.descent import Descent, Removal
from mdmemory.citing.judging import by_hash
from mdmemory.citing.lines import IN_FILES, Comparison, Span, Squeezed, lines_hash
from mdmemory.citing.versions import ProjectFiles
from mdmemory.git import log
from mdmemory.git.log import Touched
from mdmemory.records import dataclass

_HOPS = 20  # moves that are followed
_VERSIONS = 300  # of a file that are looked into
_SEARCHED = 25  # of these, for lines of which only the hash is known
_REMOVALS = 8  # commits that took the lines away, on as many branches
_FOLDERS = 20  # commits that touched a folder
_SHORTLY = 5  # commits between a copy and the end of its original
# folders of copies that stand for nothing, whatever becomes of the original
_VENDORED = frozenset(
    "vendor vendored _vendor third_party third-party thirdparty 3rdparty external extern deps"
    " node_modules".split()
)
_OTHERS = 200  # files of one commit that are looked into
_AT_ONCE = 25  # blobs that are read together
_KEPT = 200  # blobs that are held in memory
_BATCH = 400  # paths on one command line


@dataclass(frozen=True, slots=True)
class Trail:
    """Where a file, and lines of it, are in a commit: `blob` is the file there ("": it is gone),
    `lines` the first and last line, None where they are lost or none were meant."""

    path: str
    blob: str = ""
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    """A commit that touched a path, and the blob that it left there ("": none)."""

    commit: str
    blob: str


class Trails:
    """The history of a project up to the commit `tip`."""

    def __init__(self, files: ProjectFiles, tip: str) -> None:
        self._files, self._tip = files, tip
        self._steps: dict[str, list[_Step]] = {}
        self._texts: dict[str, Squeezed] = {}
        self._compared = lru_cache(maxsize=64)(self._compare)
        self._changes = lru_cache(maxsize=64)(self._all_of)

    def read(self, paths: Collection[str]) -> None:
        """Read the history of these paths at once: each alone would cost a process."""
        unread = [path for path in dict.fromkeys(paths) if path not in self._steps]
        for at in range(0, len(unread), _BATCH):
            some = unread[at : at + _BATCH]
            self._steps |= self._steps_of(some)

    def knew(self, path: str) -> bool:
        """Whether a file or folder was ever there."""
        self.read([path])
        return bool(self._steps[path] or self._steps_below(path))

    def holding(self, cite: Citation) -> Trail | None:
        """The newest version in the path's history that has the cited lines, by their hash, and
        where it has them: one that has them where they are cited, if there is one."""
        self.read([cite.path])
        blobs = [step.blob for step in self._steps[cite.path] if step.blob][:_VERSIONS]
        for blob in blobs:
            text = self._squeezed(blob)
            if cite.lines and lines_hash(text.text(text.span(cite.lines))) == cite.lines_hash:
                return Trail(cite.path, blob, cite.lines)
        for blob in blobs[:_SEARCHED]:
            text = self._squeezed(blob)
            if found := by_hash(cite, text):
                return Trail(cite.path, blob, text.in_file(found))
        return None

    # --- following -------------------------------------------------------------------------------

    def of_file(self, path: str) -> Trail:
        """Where a file is now that was at a path."""
        for _ in range(_HOPS):
            if now := self._at_tip(path):
                return Trail(path, now)
            removals = self._removals(path, "", bool)
            renamed = next(filter(None, (self._renamed(each, path) for each in removals)), None)
            if renamed is None:
                break
            path = renamed.path
        return Trail(path)

    def of_lines(self, path: str, blob: str, lines: tuple[int, int]) -> Trail:
        """Where lines of a blob are now that was at a path."""
        ways, last, seen = [Trail(path, blob, lines)], path, {Trail(path, blob, lines)}
        for _ in range(_HOPS):
            if not ways:
                break
            way = ways.pop()
            last = way.path if way.path != path else last
            span = self._squeezed(way.blob).span(way.lines or lines)
            if found := self._in_tip(way.path, way.blob, span):
                return found
            for moved in reversed(self._moves(way.path, way.blob, span)):
                if moved.lines is None:
                    last = moved.path
                elif moved not in seen:
                    ways.append(moved)
                    seen.add(moved)
        return self.of_file(last)

    def of_folder(self, path: str) -> str:
        """Where a folder is now that was at a path (both with a slash at the end); "" where its
        files did not go together."""
        for removal in self._steps_below(path):
            counts: dict[str, int] = {}
            total = 0
            for touched in self._changes(removal):
                if (touched.old_path or touched.path).startswith(path) and touched.path != path:
                    total += 1
                    if (old := touched.old_path) and old.startswith(path):
                        tail = old[len(path) :]
                        if touched.path.endswith(f"/{tail}"):
                            new = touched.path[: -len(tail)]
                            counts[new] = counts.get(new, 0) + 1
            best = max(counts, key=lambda each: counts[each], default="")
            if best and 2 * counts[best] > total:
                return best
        return ""

    def _in_tip(self, path: str, blob: str, span: Span) -> Trail | None:
        now = self._at_tip(path)
        if not now:
            return None
        there = self._compared(blob, now)
        found = there.standing(span) or there.moved(span)
        return Trail(path, now, there.new.in_file(found)) if found else None

    def _moves(self, path: str, blob: str, span: Span) -> list[Trail]:
        """Where the lines of a path went, in each commit that took them away."""
        self.read([path])
        near = [step.blob for step in self._steps[path][:_VERSIONS]]
        said = self._squeezed(blob).text(span)

        def has_lines(other: str) -> bool:
            if other == blob:
                return True
            if not other or other not in near:
                return False
            if other not in self._texts:
                at = near.index(other)
                self._fetch(near[at : at + _AT_ONCE])
            is_said = said in self._squeezed(other).flat
            return is_said and self._compared(blob, other).standing(span) is not None

        removals = self._removals(path, blob, has_lines)[:_REMOVALS]
        return [*filter(None, (self._moved_in(each, path, blob, span) for each in removals))]

    def _removals(self, path: str, blob: str, has: Callable[[str], bool]) -> list[Removal]:
        """The commits that took away from a path what `has` finds in its blobs; `blob`: one that
        has it, "" where that may be any."""
        self.read([path])
        left = {step.commit: step.blob for step in self._steps[path]}
        if not left:
            return []
        since = [commit for commit, each in left.items() if each == blob] if blob else []
        blobs = self._descent.blobs(left, since, lambda commit: self._blob(commit, path))
        return self._descent.removals(blobs, has)

    def _moved_in(self, removal: Removal, path: str, blob: str, span: Span) -> Trail | None:
        """Where the lines went in one commit; without lines where the file went without them."""
        before = self._blob(removal.parent, path)
        if before and before != blob:
            there = self._compared(blob, before)
            if (held := there.standing(span)) is None:
                return None
            blob, span = before, held
        renamed = self._renamed(removal, path)
        target = renamed or next((t for t in self._changes(removal) if t.path == path), None)
        if target and target.blob:
            there = self._compared(blob, target.blob)
            if found := there.standing(span) or there.moved(span):
                return Trail(target.path, target.blob, there.new.in_file(found))
            if not there.left(span):
                return Trail(target.path) if renamed else None
        other = self._elsewhere(removal, path, blob, span)
        return other or (Trail(renamed.path) if renamed else None)

    def _elsewhere(self, removal: Removal, path: str, blob: str, span: Span) -> Trail | None:
        """Where the lines came into another file, in the commit that took them out of this one."""
        text = self._squeezed(blob)
        said = text.text(span)
        others = [t for t in self._changes(removal) if t.path != path and t.blob]
        others = sorted(others, key=lambda t: distance(path, t.path))[:_OTHERS]
        for at, touched in enumerate(others):
            if at % _AT_ONCE == 0:
                self._fetch(each.blob or "" for each in others[at : at + _AT_ONCE])
            new = touched.blob or ""
            if said not in self._squeezed(new).flat:
                continue
            there = self._compared(
                self._blob(removal.parent, touched.old_path or touched.path), new
            )
            if found := there.arrived(text, span, IN_FILES):
                return Trail(touched.path, new, there.new.in_file(found))
        return None

    def _renamed(self, removal: Removal, path: str) -> Touched | None:
        """The file that a commit made of the one at a path, or one shortly before it, so that two
        commits together renamed it."""
        found = next((t for t in self._changes(removal) if t.old_path == path), None)
        if found or self._blob(removal.commit, path):
            return found
        above = [removal.parent]
        while len(above) < _SHORTLY and (parent := self._files.objects.parent(above[-1])):
            above.append(parent)
        start = next((each for each in reversed(above) if self._blob(each, path)), None)
        changes = self._changes(Removal(removal.commit, start)) if start else ()
        found = next((t for t in changes if t.old_path == path), None)
        return None if found and _is_vendored(found.path, path) else found

    # --- reading ---------------------------------------------------------------------------------

    @cached_property
    def _descent(self) -> Descent:
        out = self._files.repository.run("rev-list", "--topo-order", "--parents", self._tip)
        return Descent([row.split(" ") for row in out.decode().splitlines()])

    def _steps_of(self, paths: Sequence[str]) -> dict[str, list[_Step]]:
        found: dict[str, list[_Step]] = {path: [] for path in paths}
        words = ("--full-history", "--topo-order", self._tip, "--", *paths)
        for commit in log.read_with_files(self._files.repository, *words):
            for touched in commit.files:
                for path, blob in _left(touched):
                    if path in found:
                        found[path].append(_Step(commit.commit, blob))
        return found

    def _steps_below(self, folder: str) -> list[Removal]:
        """The newest commits that touched a folder."""
        words = ("--full-history", f"-n{_FOLDERS}", self._tip, "--", folder.rstrip("/"))
        found = [commit.commit for commit in log.read(self._files.repository, *words)]
        parents = {commit: self._files.objects.parent(commit) for commit in found}
        return [Removal(commit, parent) for commit, parent in parents.items() if parent]

    def _all_of(self, removal: Removal) -> list[Touched]:
        return log.between(self._files.repository, removal.parent, removal.commit)

    def _at_tip(self, path: str) -> str:
        return self._blob(self._tip, path)

    def _blob(self, commit: str | None, path: str) -> str:
        found = self._files.objects.some(commit, [path]) if commit else {}
        return found[path].id if path in found else ""

    def _fetch(self, blobs: Iterable[str]) -> None:
        """Read these blobs at once: each alone would cost a process."""
        missing = {blob for blob in blobs if blob and blob not in self._texts}
        if len(self._texts) + len(missing) > _KEPT:
            self._texts.clear()
        found = self._files.blobs(missing)
        self._texts |= {blob: Squeezed(found.get(blob, b"")) for blob in missing}

    def _squeezed(self, blob: str) -> Squeezed:
        if blob not in self._texts:
            self._fetch([blob])
        return self._texts.get(blob) or Squeezed(b"")

    def _compare(self, old: str, new: str) -> Comparison:
        return Comparison(self._squeezed(old), self._squeezed(new))


def _left(touched: Touched) -> Iterator[tuple[str, str]]:
    """The paths that a change is about, and the blob that it left at each."""
    yield touched.path, touched.blob or ""
    if touched.old_path and touched.status.startswith("R"):
        yield touched.old_path, ""


def _is_vendored(copy: str, path: str) -> bool:
    return bool(_VENDORED.intersection(copy.split("/")).difference(path.split("/")))


def distance(one: str, other: str) -> tuple[bool, int, str]:
    """What sorts the likeliest files first: those of the same name, then the nearest."""
    return basename(one) != basename(other), -len(commonpath((one, other))), other
