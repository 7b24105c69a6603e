"""Whether cited commits are part of what is checked out."""

from __future__ import annotations

from collections.abc import Collection

from mdmemory.citing.states import FRESH, GONE, UNKNOWN, CitationVerdict
from mdmemory.citing.versions import ProjectFiles

_ELSEWHERE = "the commit is on another branch"
_DROPPED = "no branch has the commit any more"
_NOT_HERE = "the commit is not in this repository"


def states(files: ProjectFiles, ids: Collection[str], tip: str) -> dict[str, CitationVerdict]:
    """How each of these commits stands, by its id (which may be shortened): fresh while `tip` comes
    from it, gone where no branch or tag does any more."""
    asked = [*ids]
    whole = dict(zip(asked, files.ids(asked, "commit"), strict=True))
    found = {id: CitationVerdict(UNKNOWN, why=_NOT_HERE) for id in asked if not whole[id]}
    here = {id: commit for id, commit in whole.items() if commit}
    beside = _not_in(files, [*here.values()], tip) if tip else {*here.values()}
    dropped = _not_in(files, [*beside], "--all") if beside else set[str]()
    for id, commit in here.items():
        if commit not in beside:
            found[id] = CitationVerdict(FRESH)
        elif commit in dropped:
            found[id] = CitationVerdict(GONE, why=_DROPPED)
        else:
            found[id] = CitationVerdict(UNKNOWN, why=_ELSEWHERE)
    return found


def _not_in(files: ProjectFiles, commits: Collection[str], tip: str) -> set[str]:
    """Those of the commits that history before `tip` does not hold."""
    if not commits:
        return set()
    data = "".join(f"{commit}\n" for commit in commits).encode()
    out = files.repository.run("rev-list", "--stdin", "--not", tip, data=data)
    return {*out.decode().split()}.intersection(commits)
