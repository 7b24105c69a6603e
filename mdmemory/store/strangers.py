"""What other hands put into a store, and is not served, or not before a person saw it.

A text that reads like an order to an assistant, or hides characters, waits until a commit holds it:
a person's own, or the one that `mdmemory review` makes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mdmemory.bounds import MESSAGE
from mdmemory.errors import GitFailed, RepositoryState
from mdmemory.note.limits import slugify
from mdmemory.note.note import UNREADABLE, Note
from mdmemory.store.project import Project
from mdmemory.store.store import INDEX
from mdmemory.text.orders import is_order
from mdmemory.unseen import without_unseen

ORDER, HIDDEN = "order", "hidden"
WHY = {
    ORDER: "it reads like an order to an assistant",
    HIDDEN: "it holds characters that nobody sees",
}
_COPY = r"(?is)(.+?)(?:\.sync-conflict-.*| \([^(]*conflict[^(]*\))\.md"
# An index has no name that tells its copy: only what no person calls a note counts.
_COPY_OF_INDEX = r"MEMORY(?: \(?\d+\)?|-.*[A-Z].*| \([^(]*\d{4}-\d\d-\d\d[^(]*\))\.md"
_FEW = 20  # notes of which the text is looked at before git is asked
_READ = 600  # characters of a line


def suspicion_of(text: str) -> str:
    """ORDER or HIDDEN, or "" where nothing speaks against a note's text. Pure."""
    visible = text.removeprefix("\ufeff")  # the mark of an encoding, which editors put there
    if without_unseen(visible) != visible:
        return HIDDEN
    lines = visible[:MESSAGE].splitlines()
    return ORDER if any(is_order(line[:_READ]) for line in lines if line) else ""


def waiting_notes(project: Project, notes: Mapping[str, Note]) -> dict[str, str]:
    """Those of these notes that wait for a person, by file, and why.

    What a commit holds, byte for byte, waits no more. Without git nothing does.
    """
    notes = {file: note for file, note in notes.items() if note.head.status != UNREADABLE}
    if len(notes) > _FEW:  # asking git of all takes less than reading all
        notes = _uncommitted_notes(project, notes)
    suspects = {file: why for file, note in notes.items() if (why := suspicion_of(note.text))}
    if not suspects:
        return {}
    left = _uncommitted_notes(project, {file: notes[file] for file in suspects})
    return {file: why for file, why in suspects.items() if file in left}


def _uncommitted_notes(project: Project, notes: Mapping[str, Note]) -> dict[str, Note]:
    """Those that neither HEAD nor a write of ours holds; none where there is no git to tell."""
    from mdmemory.git import repositories
    from mdmemory.git.commits_of_store import History

    try:
        repository = repositories.find(project.store)
        if repository is None:
            return {}
        history = History(repository, project.store)
        with history.objects.open():
            left = {file: note.text.encode("utf-8") for file, note in notes.items()}
            for commit in filter(None, (history.head(), history.kept.tip())):
                for end in (b"\n", b"\r\n"):  # whatever line ends git gave them here
                    plain = {file: data.replace(end, b"\n") for file, data in left.items()}
                    ids = {file: history.blob_id(data) for file, data in plain.items()}
                    left = {file: left[file] for file in history.list_differing(commit, ids)}
    except (RepositoryState, GitFailed):
        return {}
    return {file: notes[file] for file in left}


def sync_copies(names: Mapping[str, str]) -> dict[str, str]:
    """The files that a sync tool made of others when both sides had changed, and of which.

    `names` are those that the notes have, by their files. Dropbox, Nextcloud and Syncthing
    say so in the file's name; they and others add something in any language, a number or a host,
    and the note keeps its name.
    """
    # a look at each name is dear where there are many, and few have what it takes
    odd = (re.fullmatch(_COPY, file) for file in names if ")" in file or "." in file[:-3])
    there = {*names, INDEX}
    copies = {match[0]: base for match in odd if match and (base := f"{match[1]}.md") in there}
    if len({*names.values()}) < len(names):
        same: dict[str, list[str]] = {}
        for file, name in names.items():
            same.setdefault(name, []).append(file)
        for group in same.values():
            first = min(group, key=len)
            stem = first.removesuffix(".md")
            for file in (each for each in group if each != first):
                # more behind the name that is no part of a note's name, or "Copy of" in front
                more = file.removesuffix(".md").removeprefix(stem)
                is_longer = file.startswith(stem) and not more[:1].isalnum()
                if file.endswith(f" {first}") or (is_longer and more != f"-{slugify(more)}"):
                    copies[file] = first
    alike = (file for file in names if file.startswith("MEMORY"))
    return copies | {file: INDEX for file in alike if re.fullmatch(_COPY_OF_INDEX, file)}
