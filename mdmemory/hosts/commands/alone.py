"""The same events without a bridge: a process that answers one and ends, and so must load little.

A wish is kept in the inbox, and written by what comes next; the index is given as it lies there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mdmemory import assets
from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.files import read_if_there
from mdmemory.hosts.commands import context, events
from mdmemory.hosts.commands.context import LayerIndex
from mdmemory.hosts.commands.events import HookEvent
from mdmemory.store.project import INDEX, Project, of_person, of_project

Output = dict[str, Any]
Stores = list[tuple[str, Project]]


class Alone(NamedTuple):
    """What the hook prints for an event, {} for nothing, and whether a wish was kept: then a bridge
    has something to do. `is_refused`: a command has to be typed once more, and nobody is to do it
    meanwhile."""

    output: Output
    has_kept: bool = False
    is_refused: bool = False


def answer_alone(host: str, event: Mapping[str, Any], folder: Path) -> Alone:
    """The answer to an event in `folder`. Raises MdmemoryError."""
    event_read = events.read(host, event, folder)
    if event_read is None:
        return Alone({})
    stores = _open_stores(event_read.folder)
    if event_read.kind == events.PROMPT:
        return _answer_prompt(event_read, stores)
    if event_read.kind == events.START:
        text = _start_text(event_read, stores) if stores else ""
        return Alone(events.hook_output(event_read, text, _write_kept(event_read, stores)))
    if stores:
        _hand_over(event_read, stores[0][1])
    lines = _write_kept(event_read, stores) if event_read.kind == events.STOP else ()
    return Alone(events.hook_output(event_read, "", lines))


def _open_stores(folder: Path) -> Stores:
    """The stores for a folder with their layers, the project's first."""
    places = person.person_places()
    stores: Stores = []
    try:
        if (project := of_project(folder, None, places)) is not None:
            stores.append(("project", project))
    except MdmemoryError:  # who can ask about it tells it
        pass
    own = of_person(places)
    if own is not None and all(own.root != project.root for _, project in stores):
        stores.append(("user", own))
    return stores


def _hand_over(event: HookEvent, project: Project) -> None:
    """Start a process that reads the session once it has been idle for a while."""
    from mdmemory.hosts.background import Starter
    from mdmemory.hosts.bridge_log import NAME
    from mdmemory.hosts.git_hooks import program_words

    start = Starter(program_words, event.folder)
    start(
        events.reading_words(event.session, events.idle_seconds(project.settings)),
        project.prepare_private() / NAME,
    )


def _start_text(event: HookEvent, stores: Stores) -> str:
    """The protocol and the indexes, where it is time for them and the session lacks them."""
    is_gemini = event.host == "gemini"
    if is_gemini != (event.kind == events.PROMPT):
        return ""
    carried = None
    if event.host == "claude":
        from mdmemory.hosts.claude.own_memory_settings import carried_folder as carried_by

        carried = carried_by(event.folder, person.person_places().environment)
    indexes = [
        LayerIndex(layer, (read_if_there(project.store / INDEX) or b"").decode("utf-8", "replace"))
        for layer, project in stores
        if not context.is_same(project.store, carried)
    ]
    text, part = context.at_start(assets.read("protocol/TOOLS.md"), indexes)
    is_new = event.source in ("startup", "compact", "clear")
    return text if is_new or not events.has_had(event, part) else ""


def _answer_prompt(event: HookEvent, stores: Stores) -> Alone:
    """Keep what the person asks to remember, and say so."""
    from mdmemory.hosts import texts

    first = _start_text(event, stores) if stores else ""
    command = texts.read_typed(event.words)
    if command is not None and command.name in (texts.UNDO, texts.REVIEW):
        notice = f"mdmemory is just starting. Have the user type {command.name} once more."
        person_lines = ["Not done yet: type it once more."]
        return Alone(
            events.hook_output(event, context.frame_texts(notice), person_lines), is_refused=True
        )
    person_lines, lines, has_kept = _keep_wishes(
        event, command.said if command else event.words, stores
    )
    notice = context.frame_texts(*map(context.harmless_text, person_lines))
    text = "\n\n".join(filter(None, (first, notice)))
    return Alone(events.hook_output(event, text, lines), has_kept)


def _keep_wishes(event: HookEvent, words: str, stores: Stores) -> tuple[list[str], list[str], bool]:
    """Keep what a message asks to remember: what the assistant and the person are told, and whether
    anything was kept."""
    from mdmemory.transcripts.turns import clean

    text = clean(words)
    if not text:
        return [], [], False
    from mdmemory.hosts.conversation import NO_SECRET, read_request
    from mdmemory.prompt.message_part import part

    message = read_request(text)
    lines = [NO_SECRET] if message.secret else []
    wish_lines = part(
        message.text, message.noticed, "", has_secret=message.secret, is_private=message.cut
    )
    if not message.wishes:
        return wish_lines, lines, False
    from mdmemory.capture import wishes

    projects = [project for layer, project in stores if layer == "project"]
    inboxes = (
        wishes.open_inboxes(projects[0]) if projects else [wishes.inbox_without_store(event.folder)]
    )
    try:
        wishes.keep_wishes(
            inboxes, message.wishes, event.session, event.turn, person.now(), text, event.attended
        )
    except MdmemoryError as problem:
        return wish_lines, [f"NOT remembered, and not kept: {problem.message}"], False
    return wish_lines, lines, True


def _write_kept(event: HookEvent, stores: Stores) -> list[str]:
    """Write what was kept earlier, and say what became of it; mostly there is nothing."""
    inbox = person.state_folder() / "inbox"  # of wishes from where no store was yet
    if not any(project.has_wishes() for _, project in stores) and not any(inbox.glob("*")):
        return []
    from mdmemory.hosts.conversation import name_new_stores, stores_with_notes
    from mdmemory.layers import Layers
    from mdmemory.prompt.lines import of_as_said

    layers = Layers.open(event.folder, holder="a hook", automatic=True)
    session = event.session if event.kind == events.STOP else ""
    before = stores_with_notes(layers)
    line = of_as_said(layers.settle_wishes(session), name_new_stores(layers, before))
    return [line["message"]] if line else []
