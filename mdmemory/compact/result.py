"""What an accepted op writes: file by file, the digest it replaces and the new bytes.

Pure. Of a note that stays, only the lines that change are touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from mdmemory.compact.plan import Delete, Flag, Merge, Op, Rewrite, flagged_pairs, named
from mdmemory.git.commits_of_store import subject
from mdmemory.git.replacement import Change
from mdmemory.note import editing
from mdmemory.note.note import Head, Note, headline, parse
from mdmemory.store import note_links
from mdmemory.store.note_links import unite_notes
from mdmemory.store.store import StoredNote

SOURCE_RANK = {"explicit": 2, "manual": 1}  # all others 0
IMPORTANCE_RANK = {"high": 1, "low": -1}  # all others 0
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def changes(op: Op, notes: Mapping[str, StoredNote], today: str) -> list[Change]:
    """The changes of one op; [] when it changes nothing. `today` is YYYY-MM-DD.

    A merge names its target even where the target's bytes stay the same, because they must not
    have changed meanwhile. A flag writes no note: see `pairs`. Raises BadNote where a head cannot
    be edited.
    """
    if isinstance(op, Flag):
        return []
    if isinstance(op, Delete):
        return [Change(op.file, notes[op.file].digest, None)]
    if isinstance(op, Rewrite):
        note, wanted = notes[op.file].note, op.description
        settings: dict[str, str | None] = {}
        if wanted is not None and wanted != note.head.description:
            settings["description"] = wanted
        body = None if _is_same(op.body, note.body) else op.body
        if not settings and body is None:
            return []
        settings["metadata.updated"] = today
        text = editing.edit(note, set=settings, body=body).text
        return [Change(op.file, notes[op.file].digest, text.encode("utf-8"))]
    sources = [notes[file] for file in op.sources]
    target = notes.get(op.target) if op.target in op.sources else None
    # A new target starts from the best source, so that a person's own keys in it live on.
    base = target or best(sources)
    gone = [source for source in sources if source is not target]
    text = _write_merged(op, base.note, sources, gone, today)
    written = Change(op.target, target.digest if target else None, text.encode("utf-8"))
    return [written, *(Change(source.file, source.digest, None) for source in gone)]


def pairs(op: Flag, notes: Mapping[str, StoredNote]) -> list[tuple[StoredNote, StoredNote, str]]:
    """A flag as the conflict ledger takes it: every two of its files, with its reason."""
    return [(notes[one], notes[other], op.reason) for one, other in flagged_pairs(op.files)]


def subject_of(
    ops: Sequence[Op], changes: Iterable[Change], notes: Mapping[str, StoredNote]
) -> str:
    """The subject of a pass's commit: its first op, and the facts of all. Of a merge the note that
    it made, of a flag and of a deleted note the names."""
    new = {change.file: change.new for change in changes}
    facts = []
    for op in ops:
        file = op.target if isinstance(op, Merge) else named(op)[0]
        if isinstance(op, Flag):
            facts.append(" × ".join(notes[each].note.head.name for each in op.files))
        elif data := new.get(file):
            facts.append(headline(parse(data.decode("utf-8"), file).head))
        else:
            facts.append(headline(notes[file].note.head, gone=True))
    first = ops[0]
    verb = type(first).__name__.lower()
    return subject(
        f"{verb} {len(first.sources)} notes:" if isinstance(first, Merge) else verb, facts
    )


def best(notes: Iterable[StoredNote]) -> StoredNote:
    """The note that the others should join: confirmed, of the best source, the oldest."""

    def standing(note: StoredNote) -> tuple[bool, int, str, str]:
        head = note.note.head
        rank = SOURCE_RANK.get(head.source, 0)
        born = _date(head.created) or "9999"
        # by stem: "tea" comes before "tea-2", "tea.md" after "tea-2.md"
        return (head.status == "unconfirmed", -rank, born, note.file.removesuffix(".md"))

    return min(notes, key=standing)


def _write_merged(
    op: Merge, base: Note, sources: Sequence[StoredNote], gone: Sequence[StoredNote], today: str
) -> str:
    wanted = {"name": op.name, "description": op.description}
    settings: dict[str, str | None] = {
        key: value for key, value in wanted.items() if getattr(base.head, key) != value
    }
    body = None if _is_same(op.body, base.body) else op.body
    said_anew = body is not None or "description" in settings
    heads = [source.note.head for source in sources]
    settings |= _provenance(base.head, heads, today if said_anew else "")
    if op.name != base.head.name:
        gone = sources  # a name that nobody has any more goes, too
    if names := note_links.join_merged(base, op.name, [source.note for source in gone]):
        settings[f"metadata.{note_links.KEY}"] = names
    whole = unite_notes(base, [source.note for source in sources if source.note is not base])
    if whole.head.aliases:
        whole = note_links.with_aliases(whole, [op.name])
    return editing.edit(whole, set=settings, body=body).text


def _provenance(base: Head, heads: Sequence[Head], today: str) -> dict[str, str | None]:
    """Oldest creation, newest update and reinforcement, most reinforcements, best standing, and
    a kind where any has one."""
    reinforced = max(head.reinforced for head in heads)
    values = {
        "source": max((head.source for head in heads), key=lambda word: SOURCE_RANK.get(word, 0)),
        "importance": max(
            (head.importance for head in heads), key=lambda word: IMPORTANCE_RANK.get(word, 0)
        ),
        "created": min(filter(None, (_date(head.created) for head in heads)), default=""),
        "updated": max(today, *(_date(head.updated) for head in heads)),
        "last_reinforced": max(_date(head.last_reinforced) for head in heads),
        "reinforced": str(reinforced) if reinforced else "",
        "kind": base.kind or next((head.kind for head in heads if head.kind), ""),
    }
    now = {key: str(getattr(base, key) or "") for key in values}
    ranked = {"source": SOURCE_RANK, "importance": IMPORTANCE_RANK}
    changes: dict[str, str | None] = {}
    for key, value in values.items():
        ranks = ranked.get(key)
        is_equal = ranks is not None and ranks.get(value, 0) == ranks.get(now[key], 0)
        if value and value != now[key] and not is_equal:
            changes[f"metadata.{key}"] = value
    if base.status == "unconfirmed" and any(head.status != base.status for head in heads):
        changes["metadata.status"] = None
    return changes


def _is_same(one: str, other: str) -> bool:
    """Whether two bodies are one, line ends and blank lines around them aside."""
    one, other = (
        body.replace("\r\n", "\n").replace("\r", "\n").strip("\n") for body in (one, other)
    )
    return one == other


def _date(value: str) -> str:
    return value if _DATE.fullmatch(value) else ""
