"""An import: facts of another memory in, at most one commit in each store out.

Nothing is taken on trust: private parts and secrets go, what a model had found passes the gate, and
what the store says already is named, not stored twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from mdmemory import bounds, unseen
from mdmemory.capture.batch import ALL, Batch, Stores, place_for
from mdmemory.capture.fact import Fact, NotStored, clean_text, form_reasons, hook_line
from mdmemory.capture.imports import markdown
from mdmemory.capture.imports.markdown import NO_FACT, BadImport, Incoming, day, text_of, word_of
from mdmemory.capture.note_text import description_of, keys_of, keys_of_fact, name_of
from mdmemory.capture.notice import is_personal, letter_weight, notice_wishes, type_of
from mdmemory.capture.wishes import Rest, keep_rests
from mdmemory.config.table import PERSON
from mdmemory.errors import BadNote
from mdmemory.note import limits
from mdmemory.note.note import parse
from mdmemory.privacy import strip_private
from mdmemory.privacy.redaction import has_secret, names_secret, redact, says_something
from mdmemory.store.store import is_note_name
from mdmemory.store.strangers import suspicion_of
from mdmemory.store.writer import Writer

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
    of which `rest` has the whole text, secrets and private parts aside; `redacted` the places of
    secrets, with their kinds."""

    added: list[tuple[str, str, str]] = field(default_factory=list)
    known: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[dict[str, object]] = field(default_factory=list)
    redacted: list[tuple[str, list[str]]] = field(default_factory=list)
    id: str | None = None
    commit: str | None = None
    rest: Path | None = None  # the file that holds every text that became no note


def import_from(stores: Stores, path: Path, now: datetime, dry_run: bool = False) -> Imported:
    """Store the facts of the file or folder `path`, each where it belongs. Raises BadImport for an
    unknown format, NoStore."""
    path = path.expanduser()
    groups: dict[str, tuple[Writer, list[Incoming]]] = {}
    for each in read(path):
        body = strip_private(each.text)[0].strip()
        type = each.type or ("user" if _ABOUT_USER.match(body) else type_of(body))
        is_own = bool(each.whole) and each.origin.startswith(f"{PERSON}/")
        personal = is_own or is_personal(type, each.text)
        source = place_for(stores, personal, dry_run=dry_run)[0]
        groups.setdefault(source.prefix, (source.writer, []))[1].append(replace(each, type=type))
    done = Imported()
    label = "a file" if names_secret(path.name) else " ".join(path.name.split())[:60]
    for prefix, (writer, facts) in groups.items():  # the files as a person names them
        with writer.lock_store():
            desk = _Desk(writer, now)
            for fact in facts:
                desk.take(fact)
            part = desk.done
            if not dry_run:
                desk.write(label)
        done.added += [(f"{prefix}{file}", about, origin) for file, about, origin in part.added]
        done.known += [(f"{prefix}{file}", origin) for file, origin in part.known]
        done.dropped, done.redacted = done.dropped + part.dropped, done.redacted + part.redacted
        done.id, done.commit = done.id or part.id, done.commit or part.commit
        done.rest = done.rest or part.rest
    return done


class _Desk:
    """The facts of one import, one after the other: what one says the next need not say again."""

    def __init__(self, writer: Writer, now: datetime) -> None:
        self.today, self.done = now.date().isoformat(), Imported()
        self.batch, self.rests = Batch(writer, now, ALL), list[Rest]()
        visible = self.batch.seen.all_notes()
        self._known = {key: each.file for each in visible for key in keys_of(each.note)}

    def write(self, label: str) -> None:
        """Store each fact as a note of its own; `label` says in the commit where they are from."""
        if self.rests:
            folder = self.batch.writer.refresher.store.folder
            self.done.rest = keep_rests(folder, label, self.rests, self.today)
        written = self.batch.write("import", trailers=[("Memory-From", label)], by_model=False)
        self.done.id, self.done.commit = written.id, written.commit
        late = {file for file, _ in written.kept}
        self.done.added = [each for each in self.done.added if each[0] not in late]
        self.done.dropped += [{"text": file, "reasons": ["note_changed"]} for file in late]

    def take(self, fact: Incoming) -> None:
        if fact.whole and self._take_whole(fact):
            return
        if max(len(fact.text), len(fact.description), len(fact.name)) > bounds.FACT:
            # a text that no note may hold is kept whole, a part after the other, and told once
            left = fact.text or fact.description or fact.name
            left, told = strip_private(unseen.without_unseen(left))[0], len(self.done.dropped) + 1
            while left or len(self.done.dropped) < told:
                part = bounds.beginning_of(left, bounds.FACT)
                self._drop_text(part, "unfit", fact)
                left = left[len(part) :]
            del self.done.dropped[told:]
            return
        (body, kinds), (about, others) = map(clean_text, (fact.text, fact.description))
        about = description_of(about)
        if kinds or others:
            at = body.find(f"[redacted:{kinds[0]}") if kinds else -1
            line, file = fact.line + body.count("\n", 0, at), re.split(":| > ", fact.origin)[0]
            place = f"{file}:{line}" if fact.line and at >= 0 else fact.origin
            self.done.redacted.append((place, sorted({*kinds, *others})))
        if why := fact.reason or _find_objection(fact, body, self.today):
            whole = body if about in body else f"{about}\n\n{body}".strip()
            self._drop_text(whole, why, fact)
        elif same := next(filter(None, map(self._known.get, sorted(keys_of_fact(body)))), None):
            self.done.known.append((same, fact.origin))
        else:
            self._add(fact, body, about or hook_line(body))

    def _take_whole(self, fact: Incoming) -> bool:
        """Take in a note that we exported as it was; False where it is read as any other."""
        file, text = Path(fact.origin).name, fact.whole
        if (
            not is_note_name(file)
            or suspicion_of(text)
            or strip_private(text)[1]
            or has_secret(text)
            or not self._known.keys().isdisjoint(keys_of_fact(fact.text))
        ):
            return False
        put = self.batch.add_whole(parse(text, file), "import")
        if put is not None:
            self.done.added.append((file, put.note.note.head.description, fact.origin))
        return put is not None

    def _add(self, fact: Incoming, body: str, about: str) -> None:
        # under its own name where it had one
        name = limits.slugify(_public_name(fact.name).removesuffix(".md"))
        name = name.removeprefix(f"{fact.type}-") if name else name_of(about)
        title = description_of(clean_text(fact.title)[0])
        worded = Fact(body, about, name or "fact", fact.type, title, fact.kind)
        # the other names that it had, secrets and what nobody sees aside
        short = [alias for alias in fact.aliases if len(alias) <= limits.MAX_DESCRIPTION]
        seen = map(unseen.without_unseen, short[:_MOST_ALIASES])
        aliases = [each for each in seen if each.isprintable() and not names_secret(each)]
        try:
            created = fact.metadata.get("created", self.today)
            put = self.batch.add_new(
                worded, {
                    **fact.metadata, "source": fact.source, "created": created,
                    "updated": fact.metadata.get("updated", created),
                    "imported_from": description_of(_public_name(fact.origin)),
                },
                verb="import", aliases=aliases, own=_clean_value(fact.own),
            )  # fmt: skip
        except BadNote:
            self._drop_text(worded.body, "unfit", fact)
        except NotStored:  # a secret: the parts are clean, and side by side they are not
            self._drop_text(worded.description, "secret", fact)
        else:
            self._known |= dict.fromkeys(keys_of(put.note.note), put.note.file)
            self.done.added.append((put.note.file, worded.description, fact.origin))

    def _drop_text(self, text: str, why: str, fact: Incoming) -> None:
        """Name what becomes no note, and keep its text; of a secret, what is left without it."""
        clean = redact(text)[0].strip()
        label = description_of(clean) or "nothing that can be shown"
        self.done.dropped.append({"text": label, "reasons": why.split()})
        if why not in ("empty", "private") and clean and says_something(clean):
            self.rests.append(Rest(clean, _public_name(fact.origin), why))


def _public_name(name: str) -> str:
    return "" if names_secret(name) else name


def _clean_value(value: Any) -> Any:
    """A value of a head, however deep, with its texts clean."""
    if isinstance(value, str):
        return clean_text(value)[0]
    if isinstance(value, Mapping):
        return {
            clean_text(key)[0]: fresh
            for key, each in value.items()
            if (fresh := _clean_value(each))
        }
    return [*filter(None, map(_clean_value, value))]


def _find_objection(fact: Incoming, body: str, today: str) -> str:
    """Why a fact is left out, as words with spaces between; "" when it comes in."""
    if not body:
        return "private" if fact.text.strip() else "empty"
    if not says_something(body):
        return "secret"
    if fact.metadata.get("expires", today) < today:
        return "superseded"
    # what a person or an assistant kept is no proposal; what a model had found is one
    return "" if fact.source in _KEPT else " ".join(form_reasons(body))


# A text may begin with a bracket, too: of a date, a link, a task.
_JSON = re.compile(r'\s*(?:\{\s*"|\[\s*[{"])')
MAX_BYTES = 64 * 1024 * 1024


def read(path: Path) -> list[Incoming]:
    """The facts of a file or folder that a person named; links are followed. Raises BadImport."""
    try:
        facts = list(_read_folder(path) if path.is_dir() else _read_file(path))
    except OSError as problem:
        raise BadImport(
            f"{path} cannot be read ({problem.strerror}).", "Name a file or a folder."
        ) from problem
    if not any(fact.text.strip() or fact.description for fact in facts):
        raise BadImport(f"{path} holds no memory.", "docs/team.md says what can be imported.")
    return facts


def _read_folder(folder: Path) -> Iterator[Incoming]:
    if (folder / "memory").is_dir() and not any(folder.glob("*.md")):
        yield from _read_folder(folder / "memory")  # a project's folder of Claude Code
    elif markdown.markdown_files(folder):
        yield from markdown.notes_of(folder)
    else:
        for path in sorted(folder.glob("*.json")):
            yield from _read_file(path)


def _read_file(path: Path) -> Iterator[Incoming]:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise BadImport(f"{path} is larger than {MAX_BYTES >> 20} MB.", "Import it in parts.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise BadImport(f"{path} is not UTF-8 text.", "Save it as UTF-8 first.") from problem
    lines = text.splitlines()
    if is_graph(next((line for line in lines if line.strip()), "")):
        yield from graph_of(lines)
        return
    is_json = path.suffix == ".json" or _JSON.match(text) is not None
    value = _parse_json(text) if is_json else None
    # a note may only begin as JSON does, such as with a head
    if value is None and is_json and path.suffix not in markdown.ENDINGS:
        value = [_parse_json(line) for line in lines if line.strip()]  # one in each line
        if None in value or len(value) < 2:
            raise BadImport(f"{path} is not JSON, or was cut off.", "Export it again.")
    if value is not None:
        yield from facts_of(value, path.name)
    else:
        yield from markdown.of_file(text, path.name)


# --- memories as JSON: what is no fact is handed on with a reason

DEPTH = 40  # of nested lists and objects that are looked into

_GONE = ("deleted", "archived", "paused")  # states of a memory that its owner took back
_ENTITY, _RELATION = "entity", "relation"
# keys whose text is the fact, in any JSON
_FACTS = tuple(
    "memory fact content text observation observations note notes statement value body "
    "message summary description facts memories knowledge".split()
)
_USER = ("user", "human")
_OTHERS = tuple("assistant ai model system developer tool function persona".split())
_LAST_DAYS = ("expiration_date", "invalid_at", "expired_at")
_MORE = 24  # the weight of what a message says beside a request, and that is no mere courtesy
_EXPORTED = {"file", "body", "type", "description", "head"}


def facts_of(value: Any, origin: str) -> Iterator[Incoming]:
    """The facts of a JSON value, of whichever memory it is."""
    rows = _maps_in(value)
    if rows == value and all(
        row.keys() >= _EXPORTED and isinstance(row["head"], Mapping) for row in rows
    ):
        import yaml  # which only an import of this needs

        for row in rows:  # each as its file was
            fields = {key: row[key] for key in ("name", "description") if key in row}
            head = {**fields, "type": row["type"], **row["head"]}
            text, file = yaml.safe_dump(head, allow_unicode=True), word_of(row["file"])
            whole = f"---\n{text_of(text)}\n---\n\n{text_of(row['body'])}\n"
            yield markdown.of_note(parse(whole, file), file)
    elif isinstance(value, Mapping) and isinstance(value.get("entities"), list):
        yield from graph_facts([
            *({"type": _ENTITY, **row} for row in _maps_in(value["entities"])),
            *({"type": _RELATION, **row} for row in _maps_in(value.get("relations"))),
        ])  # fmt: skip
    else:
        yield from _any_facts(value, Incoming("", origin, source="manual"), 0, is_fact=True)


def is_graph(first: str) -> bool:
    """Whether the first line of a file is one of MCP's memory server: an entity or a relation."""
    row = _parse_json(first)
    return isinstance(row, Mapping) and row.get("type") in (_ENTITY, _RELATION)


def graph_of(lines: Sequence[str]) -> Iterator[Incoming]:
    """The facts of its file, one JSON object a line; a line that is none is handed on."""
    rows = []
    for number, line in enumerate(lines, 1):
        row = _parse_json(line) if line.strip() else {}
        if isinstance(row, Mapping):
            rows.append(row)
        else:
            yield Incoming(line, f"mcp-memory:line {number}", reason="unreadable")
    yield from graph_facts(rows)


def graph_facts(rows: Sequence[Mapping[str, Any]]) -> Iterator[Incoming]:
    """Those of the memory server of MCP: each observation is a fact, with the name of its entity in
    front unless it has it already; so is each relation, and an entity of which nothing is said."""
    for row in rows:
        name, about = word_of(row.get("name")), word_of(row.get("entityType"))
        if row.get("type") == _ENTITY:
            told = row.get("observations")
            facts = [*map(text_of, told)] if isinstance(told, list) else []
            for fact in facts or [f"is a {about}"]:
                whole = fact if name.casefold() in fact.casefold() else f"{name}: {fact}"
                yield Incoming(whole, f"mcp-memory:{name} > {about}", source="manual")
        elif row.get("type") == _RELATION:
            verb = word_of(row.get("relationType")).replace("_", " ")
            fact = f"{word_of(row.get('from'))} {verb} {word_of(row.get('to'))}"
            yield Incoming(fact, "mcp-memory:relation", source="manual")
        elif row:
            yield Incoming(json.dumps(row, ensure_ascii=False), "mcp-memory", reason=NO_FACT)


def _parse_json(text: str) -> Any:
    """The value of a text in JSON; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _any_facts(value: object, above: Incoming, depth: int, *, is_fact: bool) -> Iterator[Incoming]:
    """Those of mem0, and any other JSON: the texts under the keys that hold facts, and those of a
    list there; other texts that say something are handed on. `above` has the place, and what the
    objects around tell of a fact."""
    if depth > DEPTH:
        yield replace(above, text=json.dumps(value, ensure_ascii=False), reason=NO_FACT)
    elif isinstance(value, Mapping):
        row = _row_facts(value, above)
        verb = word_of(value.get("relationship"))
        ends = (value.get("source"), value.get("target", value.get("destination")))
        if verb and all(names := [*map(word_of, ends)]):
            yield replace(row, text=f"{names[0]} {verb.replace('_', ' ')} {names[1]}")
            return
        for key, inner in value.items():
            place = replace(row, origin=f"{row.origin} > {word_of(key)}")
            is_text = isinstance(inner, str | list)
            wanted = word_of(key).lower() in _FACTS if is_text else is_fact
            yield from _any_facts(inner, place, depth + 1, is_fact=wanted)
    elif isinstance(value, list):
        for inner in value:
            yield from _any_facts(inner, above, depth + 1, is_fact=is_fact)
    elif content := text_of(value):
        if above.source == "explicit":
            yield from _wished_facts(content, above)
        elif is_fact:
            yield replace(above, text=content)
        elif " " in content and not day(content):
            yield replace(above, text=content, reason=NO_FACT)


def _wished_facts(message: str, above: Incoming) -> Iterator[Incoming]:
    """What a message of the user asks to remember; it is handed on where it says more than that."""
    left = message
    for wish in notice_wishes(message).wishes:
        yield replace(above, text=wish)
        left = left.replace(wish, "", 1)
    if left == message or letter_weight(left) >= _MORE:
        yield replace(above, text=message, reason=NO_FACT)


def _row_facts(row: Mapping[str, Any], above: Incoming) -> Incoming:
    """What an object tells of the facts in it: its id, its days, who found them, its state. In a
    conversation, which is no list of facts, only what the user asks for is one."""
    number, author = row.get("id"), row.get("author")
    role = author.get("role") if isinstance(author, Mapping) else row.get("role", row.get("sender"))
    speaker = "" if {"memory", "fact"} & row.keys() else word_of(role).lower()
    ends = next(filter(None, (day(row.get(key)) for key in _LAST_DAYS)), "")
    days = {"created": markdown.day_of(row), "updated": day(row.get("updated_at")), "expires": ends}
    if word_of(row.get("label")).lower() in _OTHERS:
        speaker = "assistant"
    reason = "superseded" if word_of(row.get("state")).lower() in _GONE else above.reason
    return replace(
        above,
        origin=f"{above.origin}:{number}" if isinstance(number, str | int) else above.origin,
        source="explicit" if speaker in _USER
        else "extraction" if row.get("agent_id") else above.source,
        metadata={**above.metadata, **{key: at for key, at in days.items() if at}},
        reason=NO_FACT if speaker in _OTHERS else reason,
    )  # fmt: skip


def _maps_in(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
