"""An import: facts of another memory in, at most one commit in each store out.

Nothing is taken on trust: private parts and secrets go, what a model had found passes the gate, and
what the store says already is named, not stored twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

from mdmemory import bounds, unseen
from mdmemory.actions.editing import taken_names
from mdmemory.capture.fact import hook, type_of
from mdmemory.capture.gate import form
from mdmemory.capture.imports import rest
from mdmemory.capture.imports.incoming import Incoming
from mdmemory.capture.imports.reading import read
from mdmemory.capture.imports.rest import Rest
from mdmemory.capture.note_text import beside, description_of, keys_of, keys_of_fact, name_of
from mdmemory.capture.notice import holds_everywhere
from mdmemory.capture.routes import is_personal
from mdmemory.capture.stores import Stores
from mdmemory.citing.citation import MAY_CITE
from mdmemory.citing.cite import cites_of
from mdmemory.errors import BadNote
from mdmemory.git.commits_of_store import subject
from mdmemory.git.transaction import Change
from mdmemory.note import editing, limits
from mdmemory.note.note import headline, parse
from mdmemory.privacy.private import strip_private
from mdmemory.privacy.redaction import names_secret, redact, says_something
from mdmemory.store.sources import NoteSource
from mdmemory.store.writer import Group, Writer

_KEPT = ("explicit", "manual", "assistant")
_MOST_ALIASES = 20  # of one note
# Other memories leave out that a fact is about their user, who must not be read in a shared store.
_ABOUT_USER = re.compile(
    r"(?:[\w .-]{1,40}: )?(?:the user|likes|prefers|loves|lives|speaks|works (?:at|as|in|for)"
    r"|enjoys|dislikes)\b",
    re.IGNORECASE,
)


@dataclass
class Imported:
    """What an import did, or would do: `added` are file, description and origin; `known` a note
    that says it already and the origin; `dropped` objects {"text", "reasons"}, redacted and cut,
    of which `rest` has the whole text, secrets and private parts aside."""

    added: list[tuple[str, str, str]] = field(default_factory=list)
    known: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[dict[str, object]] = field(default_factory=list)
    id: str | None = None
    commit: str | None = None
    rest: Path | None = None  # the file that holds every text that became no note


def import_from(stores: Stores, path: Path, today: str, dry_run: bool = False) -> Imported:
    """Store the facts of the file or folder `path`, each where it belongs. Raises BadImport for an
    unknown format, NoStore."""
    path = path.expanduser()
    groups: dict[str, tuple[Writer, list[Incoming]]] = {}
    for each in read(path):
        fact = _typed(each)
        personal = is_personal(fact.type, holds_everywhere(fact.text))
        source = _place(stores, personal, dry_run=dry_run)
        groups.setdefault(source.prefix, (source.writer, []))[1].append(fact)
    parts = [
        (prefix, store_all(writer, facts, label=path.name, today=today, dry_run=dry_run))
        for prefix, (writer, facts) in groups.items()
    ]
    return reduce(_both, parts, Imported())


def _place(stores: Stores, personal: bool, *, dry_run: bool) -> NoteSource:
    """The store that a fact goes to; a dry run makes none."""
    sources = stores.sources()
    if dry_run and sources:
        return sources[-1 if personal else 0]
    return stores.open_for(personal)[0]


def _typed(fact: Incoming) -> Incoming:
    """The fact with a type, where its source names none."""
    if fact.type:
        return fact
    body = strip_private(fact.text)[0].strip()
    return replace(fact, type="user" if _ABOUT_USER.match(body) else type_of(body))


def store_all(
    writer: Writer, facts: Sequence[Incoming], *, label: str, today: str, dry_run: bool = False
) -> Imported:
    """Store each fact as a note of its own. `label` tells in the commit where they come from."""
    with writer.locked():
        desk = _Desk(writer, today)
        for fact in facts:
            desk.take(_typed(fact))
        if desk.rests and not dry_run:
            folder = writer.refresher.store.folder
            desk.done.rest = rest.keep(folder, _source(label), desk.rests, today)
        if desk.groups and not dry_run:
            written = writer.write(
                subject("import", desk.headlines), desk.groups, kind="import",
                trailers=[("Memory-From", _source(label))],
            )  # fmt: skip
            desk.done.id, desk.done.commit = written.id, written.commit
            late = {file for file, _ in written.kept}
            desk.done.added = [each for each in desk.done.added if each[0] not in late]
            desk.done.dropped += [{"text": file, "reasons": ["note_changed"]} for file in late]
        return desk.done


def _both(done: Imported, more: tuple[str, Imported]) -> Imported:
    """What was done, and in one store more, with the files as a person names them."""
    prefix, part = more
    return Imported(
        added=[*done.added, *((f"{prefix}{each[0]}", *each[1:]) for each in part.added)],
        known=[*done.known, *((f"{prefix}{file}", origin) for file, origin in part.known)],
        dropped=[*done.dropped, *part.dropped],
        id=done.id or part.id,
        commit=done.commit or part.commit,
        rest=done.rest or part.rest,
    )


def _source(label: str) -> str:
    return "a file" if names_secret(label) else " ".join(label.split())[:60]


class _Desk:
    """The facts of one import, one after the other: what one says the next need not say again."""

    def __init__(self, writer: Writer, today: str) -> None:
        self.today, self.done = today, Imported()
        self.groups: list[Group] = []
        self.headlines: list[str] = []
        self.rests: list[Rest] = []
        self._is_secret = writer.refresher.is_secret
        self._cite = partial(cites_of, writer.project)
        catalog, store = writer.refresher.catalog(), writer.refresher.store
        self._taken = taken_names(store, catalog.names)
        visible = [each for each in store.notes() if each.file not in catalog.held]
        self._known = {key: each.file for each in visible for key in keys_of(each.note)}

    def take(self, fact: Incoming) -> None:
        if max(len(fact.text), len(fact.description), len(fact.name)) > bounds.FACT:
            self._too_long(fact)
            return
        body, about = _clean(fact.text), description_of(_clean(fact.description))
        if why := fact.reason or _objection(fact, body, self.today):
            whole = body if about in body else f"{about}\n\n{body}".strip()
            self._drop(whole, why, fact)
        elif same := next(filter(None, map(self._known.get, sorted(keys_of_fact(body)))), None):
            self.done.known.append((same, fact.origin))
        else:
            self._add(fact, body, about or hook(body))

    def _add(self, fact: Incoming, body: str, about: str) -> None:
        type = fact.type
        name = "" if names_secret(fact.name) else limits.slugify(fact.name.removesuffix(".md"))
        name = name.removeprefix(f"{type}-") if name else name_of(about)
        name = limits.free_name(name or "fact", type, self._taken)
        file = limits.file_name(type, name)
        try:
            text = editing.compose(
                name=name,
                type=type,
                description=about,
                body=beside(about, body),
                kind=fact.kind,
                title=description_of(_clean(fact.title)),
                aliases=_aliases(fact),
                metadata=self._metadata(fact),
                own=_cleaned(fact.own),
                cites=self._cite(f"{about}\n{body}") if MAY_CITE.search(body) else (),
            )
        except BadNote:
            return self._drop(body, "unfit", fact)
        if self._is_secret(text):
            return self._drop(about, "secret", fact)
        self._taken |= {name.casefold(), file.casefold()}
        self._known |= dict.fromkeys(keys_of(parse(text, file)), file)
        line = f"import {file}: {about}"
        self.groups.append(Group(line, (Change(file, None, text.encode("utf-8")),)))
        self.headlines.append(headline(parse(text, file).head))
        self.done.added.append((file, about, fact.origin))
        return None

    def _metadata(self, fact: Incoming) -> dict[str, str]:
        return {
            "source": fact.source, "importance": fact.importance,
            "created": fact.created or self.today,
            "updated": fact.updated or fact.created or self.today,
            "reinforced": str(fact.reinforced or ""), "last_reinforced": fact.last_reinforced,
            "session": fact.session, "turn": fact.turn, "status": fact.status,
            "expires": fact.expires,
            "imported_from": "" if names_secret(fact.origin) else description_of(fact.origin),
        }  # fmt: skip

    def _drop(self, text: str, why: str, fact: Incoming) -> None:
        """Name what becomes no note, and keep its text; of a secret, what is left without it."""
        clean = redact(text)[0].strip()
        told = description_of(clean) or "nothing that can be shown"
        self.done.dropped.append({"text": told, "reasons": why.split()})
        if why not in ("empty", "private"):
            self._keep(clean, why, fact)

    def _keep(self, clean: str, why: str, fact: Incoming) -> None:
        if clean and says_something(clean):
            origin = "" if names_secret(fact.origin) else fact.origin
            self.rests.append(Rest(clean, origin, why))

    def _too_long(self, fact: Incoming) -> None:
        """A text that no note may hold is kept whole, a part after the other."""
        text = strip_private(unseen.without(fact.text or fact.description or fact.name))[0]
        part = bounds.beginning(text, bounds.FACT)
        self._drop(part, "unfit", fact)
        while text := text[len(part) :]:
            part = bounds.beginning(text, bounds.FACT)
            self._keep(redact(part)[0].strip(), "unfit", fact)


def _aliases(fact: Incoming) -> list[str]:
    """The other names that the fact had, secrets and what nobody sees aside."""
    short = [alias for alias in fact.aliases if len(alias) <= limits.MAX_DESCRIPTION]
    found = map(unseen.without, short[:_MOST_ALIASES])
    return [each for each in found if each.isprintable() and not names_secret(each)]


def _clean(text: str) -> str:
    return redact(strip_private(unseen.without(text))[0])[0].strip()


def _cleaned(value: Any) -> Any:
    """A value of a head, however deep, with its texts clean."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, Mapping):
        return {_clean(key): fresh for key, each in value.items() if (fresh := _cleaned(each))}
    return [*filter(None, map(_cleaned, value))]


def _objection(fact: Incoming, body: str, today: str) -> str:
    """Why a fact is left out, as words with spaces between; "" when it comes in."""
    if not body:
        return "private" if fact.text.strip() else "empty"
    if not says_something(body):
        return "secret"
    if fact.expires and fact.expires < today:
        return "superseded"
    # what a person or an assistant kept is no proposal; what a model had found is one
    return "" if fact.source in _KEPT else " ".join(form(body))
