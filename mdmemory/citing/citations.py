"""The citations of one store: the repository of its project, and what its notes cite there.

Only a project's store cites. A store that is itself the whole repository, as the person's own is,
has no project.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from mdmemory.citing.checking import Checker
from mdmemory.citing.citation import parse
from mdmemory.citing.states import DRIFTED, FRESH, GONE, MOVED, UNKNOWN, CheckedCitation
from mdmemory.citing.verdicts import NAME, Verdicts
from mdmemory.citing.versions import ProjectFiles
from mdmemory.errors import MdmemoryError, NoGit, NotFound
from mdmemory.git import identity, repositories
from mdmemory.git.repositories import Repository
from mdmemory.records import replace
from mdmemory.store import home
from mdmemory.store.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.citing.pinning import Pinning

Notes = Iterable[tuple[str, Sequence[str]]]  # the file of each, and its citations
Cited = tuple[CheckedCitation, ...]  # what one note cites
Cite = Callable[[str], Sequence[str]]  # the citations for the text of a new note


def of_some(project: Project, notes: Notes, patience: float) -> dict[str, Cited]:
    """How that stands which some notes cite, by file, as far as it can be told while a search
    waits: `patience` are seconds for one command of git."""
    found: dict[str, list[CheckedCitation]] = {}
    with suppress(MdmemoryError, OSError):
        for each in Citations(project, patience).check(notes):
            found.setdefault(each.file, []).append(each)
    return {file: tuple(checked) for file, checked in found.items()}


def cites_of(project: Project, text: str, named: Sequence[str] = ()) -> Sequence[str]:
    """The citations for the text of a note, and for places that a person names. Raises UsageError
    for a place that is none, NoGit where there is no project."""
    cited = Citations(project)
    return cited.named(named, text) if named else cited.of_text(text)


def cites_nothing(_: str) -> Sequence[str]:
    """No citations, whatever a text names."""
    return ()


class Citations:
    """What the notes of a store cite in its project."""

    def __init__(self, project: Project, patience: float | None = None) -> None:
        """`patience`: seconds that one command of git may take, where a session waits for it."""
        self._project, self._patience = project, patience

    @cached_property
    def files(self) -> ProjectFiles | None:
        """The repository of the project; None where the store has no project, or it is not here."""
        found = _repository(self._project)
        if found and self._patience:
            found = replace(found, patience=self._patience)
        return ProjectFiles(found) if found else None

    @cached_property
    def tip(self) -> str:
        """The commit that is checked out in the project, "" for none."""
        if self.files is None:
            return ""
        repository = self.files.repository
        branch = repositories.branch(repository)
        return (repositories.tip(repository, branch) if branch else None) or identity.head(
            repository
        )

    def check(self, notes: Notes) -> list[CheckedCitation]:
        """Every citation of these notes as it stands now. Raises NoGit where there is no
        project."""
        files, notes = self._required(), [*notes]
        known = self._verdicts()
        with known.open():
            return Checker(files, known, self.tip).check(notes)

    def drifted_since(self, notes: Notes, revision: str) -> list[CheckedCitation]:
        """The citations that stood until a revision and do not any more, or of which this clone
        cannot tell whether they do: of a branch, since it left that. Raises NotFound for no
        revision, and where the clone leaves out what came since; NoGit where there is no project.
        """
        files, notes = self._required(), [*notes]
        base = self._base(files, revision)
        known = self._verdicts()
        with known.open():
            now = Checker(files, known, self.tip).check(notes)
            lost = [each for each in now if each.is_outdated or each.state == UNKNOWN]
            then = Checker(files, known, self.tip, at=base).check(
                (each.file, [each.cite]) for each in lost
            )
        pairs = zip(lost, then, strict=True)
        return [
            each for each, before in pairs
            if (not before.is_outdated if each.is_outdated else before.state in (FRESH, MOVED))
        ]  # fmt: skip

    def of_text(self, text: str) -> list[str]:
        """The citations for what the text of a new note names in the project. [] where there is no
        project, and where the project cannot be read: a note is stored all the same."""
        try:
            return [] if self._pinning is None else [*map(str, self._pinning.of_text(text))]
        except (MdmemoryError, OSError):
            return []

    def named(self, words: Sequence[str], text: str) -> list[str]:
        """The citations for places that a person names, then those for what the text of their note
        names in other files. Raises UsageError for what is not there, NoGit without a project."""
        self._required()
        assert self._pinning is not None
        given = [each for word in words for each in self._pinning.named(word, text)]
        more = self._pinning.of_text(text, but=given)
        return [*dict.fromkeys(str(each) for each in (*given, *more))]

    def pinned(self, cites: Sequence[str]) -> dict[str, str | None]:
        """What is to be put in place of citations that are not pinned yet."""
        written = {cite: citation for cite in cites if (citation := parse(cite))}
        bare = {cite: each for cite, each in written.items() if not each.is_pinned}
        if not bare or self._pinning is None:
            return {}
        return {cite: str(self._pinning.pinned(each)) for cite, each in bare.items()}

    def anew(self, cites: Sequence[str]) -> dict[str, str | None]:
        """What is to be put in place of citations that do not stand as they are written; None for
        what is gone. What is not known stays."""
        changes = self.pinned(cites)
        if self._pinning is None:
            return changes
        for each in self.check([("", cites)]):
            place = parse(each.now or each.place)
            if each.state == GONE:
                changes[each.cite] = None
            elif place is not None and each.state in (MOVED, DRIFTED):
                changes[each.cite] = str(self._pinning.pinned(place))
            elif place is not None and each.state == UNKNOWN and not place.is_commit:
                fresh = self._pinning.pinned(place)
                changes[each.cite] = str(fresh) if fresh.is_pinned else each.cite
        return changes

    @cached_property
    def _pinning(self) -> Pinning | None:
        if self.files is None:
            return None
        from mdmemory.citing.pinning import Pinning  # its patterns take a while to compile

        start = self._project.around or self._project.root
        return Pinning(self.files, self.tip, start, self._project.store)

    def _base(self, files: ProjectFiles, revision: str) -> str:
        """The commit from which a change is counted: the last one that HEAD has of a revision."""
        name = "" if revision.startswith("-") else revision
        [commit] = files.ids([f"{name}^{{commit}}"], "commit") if name.isprintable() else [""]
        if not commit or not name:
            raise NotFound(
                f"The project has no commit {revision!r}.",
                "`git log` lists what there is, and `git fetch` brings what is elsewhere.",
            )
        found = files.repository.ask("merge-base", commit, "HEAD")
        if not found and identity.is_shallow(files.repository):
            raise NotFound(
                f"This clone leaves out the commits since the branch left {revision}.",
                "`git fetch --unshallow` brings them; in CI, check out the whole history.",
            )
        return found.decode().split()[0] if found else commit

    def _verdicts(self) -> Verdicts:
        return Verdicts(self._project.private / NAME)

    def _required(self) -> ProjectFiles:
        if self.files is None:
            raise NoGit(
                f"{self._project.store} is the store of no project that is here, and only notes of "
                "a project cite.",
                "Run it in the project's folder.",
            )
        return self.files


def _repository(project: Project) -> Repository | None:
    """The repository of the project that a store serves."""
    for folder in _folders(project):
        try:
            found = repositories.find(folder) if folder.is_dir() else None
        except MdmemoryError:  # bare, damaged, somebody else's
            continue
        if found is None or os.path.samefile(found.top, project.store):
            continue
        if project.around is None and folder != project.top and not _is_known(found, project):
            continue  # another repository lies there by now
        return found
    return None


def _is_known(repository: Repository, project: Project) -> bool:
    known = home.read(project.root)
    return known is not None and any(identity.holds(repository, root) for root in known.roots)


def _folders(project: Project) -> list[Path]:
    """Where the project may lie: around where we are, else where the store says it was seen."""
    if project.around is not None or project.root != project.store:
        return [project.top]
    try:
        known = home.read(project.root)
    except MdmemoryError:
        known = None
    return [Path(folder).parent for folder in reversed(known.folders)] if known else []
