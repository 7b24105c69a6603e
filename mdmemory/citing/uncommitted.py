"""What no commit holds yet: files renamed in git's index, lines that went to another file since.

Only asked where something cited is missing from the work tree and HEAD still has it.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

from mdmemory.citing.citation import place
from mdmemory.citing.lines import IN_FILES, Comparison, Squeezed
from mdmemory.citing.trails import Trail, distance
from mdmemory.citing.versions import ProjectFiles
from mdmemory.git.log import RENAMES

_OTHERS = 200  # changed files that are looked into


class Uncommitted:
    """The changes of the work tree and of git's index since the commit `tip`."""

    def __init__(self, files: ProjectFiles, tip: str) -> None:
        self._files, self._tip = files, tip
        self._pair = lru_cache(maxsize=_OTHERS)(self._compared)
        self._now = lru_cache(maxsize=_OTHERS)(self._read)

    def renamed(self, path: str) -> str:
        """The path at which a file lies that had another one in HEAD: that of git's index, or of a
        file that is the same; "" for none."""
        if path in self._renames:
            return self._renames[path]
        blob = self._files.objects.some(self._tip, [path]).get(path)
        others = sorted(self._changed, key=lambda other: distance(path, other))[:_OTHERS]
        there = self._files.now(others) if blob else {}
        return next((each for each, now in there.items() if blob and now.is_blob(blob.id)), "")

    def lines(self, trail: Trail) -> str:
        """Where the lines of a trail went that the work tree's file no longer has; "" where they
        were changed."""
        old = self._files.blobs([trail.blob]).get(trail.blob)
        if old is None or trail.lines is None:
            return ""
        before = Squeezed(old)
        span = before.span(trail.lines)
        if path := self.renamed(trail.path):
            there = Comparison(before, self._now(path))
            if found := there.standing(span):
                return place(path, there.new.in_file(found))
        if not Comparison(before, self._now(trail.path)).left(span):
            return ""
        said = before.text(span)
        others = [path for path in self._changed if path != trail.path]
        for path in sorted(others, key=lambda path: distance(trail.path, path))[:_OTHERS]:
            if said not in self._now(path).flat:
                continue
            there = self._pair(path)
            if found := there.arrived(before, span, IN_FILES):
                return place(path, there.new.in_file(found))
        return ""

    @cached_property
    def _staged(self) -> list[list[str]]:
        how = ("diff-index", "--cached", "-M", f"-l{RENAMES}", "--name-status", "-z", self._tip)
        return _rows(self._files.repository.run(*how).decode("utf-8", "surrogateescape"))

    @cached_property
    def _renames(self) -> dict[str, str]:
        return {row[1]: row[2] for row in self._staged if row[0].startswith("R")}

    @cached_property
    def _changed(self) -> list[str]:
        """Every file that may differ from HEAD."""
        words = ("ls-files", "-o", "--exclude-standard", "-z")
        untracked = self._files.repository.run(*words).decode("utf-8", "surrogateescape")
        found = {row[-1] for row in self._staged} | {*filter(None, untracked.split("\0"))}
        return sorted(found.union(self._files.edited()))

    def _compared(self, path: str) -> Comparison:
        blob = self._files.objects.some(self._tip, [path]).get(path)
        data = self._files.blobs([blob.id]).get(blob.id) if blob else None
        return Comparison(Squeezed(data or b""), self._now(path))

    def _read(self, path: str) -> Squeezed:
        version = self._files.now([path]).get(path)
        return Squeezed((self._files.data(version) if version else None) or b"")


def _rows(out: str) -> list[list[str]]:
    """Status and paths of each file; one that was renamed or copied has two."""
    fields, rows = iter(out.split("\0")), []
    for status in fields:
        if status:
            rows.append([status, *(next(fields) for _ in range(2 if status[0] in "RC" else 1))])
    return rows
