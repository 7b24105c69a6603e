"""mdmemory: long-term memory for coding assistants, as markdown notes in git.

    errors, debugging, version, assets,      failures, lines for whoever debugs, limits of length,
    bounds, unseen, wire                     unseen characters, lines of JSON
    privacy/                                 what in a text is private or secret; pure
    files                                    bytes and paths
    config/                                  settings, and where a person's files lie
    note/                                    one note as text; no paths, no git, no clock
    git/                                     a folder changes as one commit or not at all
    transcripts/                             sessions of each host, read as turns
    text/                                    what sentences claim, and where two disagree; pure
    store/                                   a folder of notes, and what is derived from it
    citing/                                  what notes cite in a project, and whether it stands
    protocol                                 words for assistants
    actions/                                 what a person asks of a store
    llm/                                     a model that a person chose
    search/                                  from a question to places in notes
    search/postgres/                         the same database on a PostgreSQL server
    capture/                                 from a session to notes; not compaction
    capture/imports/                         facts out of other memories
    compact/                                 from many notes to fewer; not capture
    session/                                 what one session needs at hand: state, never notes
    observe/                                 from what tools showed to a few lines about it
    prompt/                                  what goes into a prompt, and receipts
    audit                                    what is wrong in any memory, ours or another's
    memory                                   the Python interface, which all of the following use
    layers                                   the person's memory and the project's, read as one
    overview                                 how a store stands, and where text is sent
    review/                                  all that waits for a person, and their answers
    tools/                                   the tools for assistants: one table for all hosts
    memory_tool                              the memory tool of the Anthropic API
    hosts/                                   how clients are wired, what they share; git's hooks
    hosts/claude/                            Claude Code: its own memory writes into the store
    hosts/commands/                          the events of Claude Code, Codex and Gemini CLI
    hosts/bridge/                            one process for each store, which answers all hooks
    hosts/opencode/                          OpenCode: its wiring, and its plugin's bridge
    mcp/                                     the same tools for any MCP host
    web/                                     pages in a browser, on this machine alone
    cli/                                     the terminal

A module imports from its own room or from a room further up in this drawing; tests/test_floors.py
holds it to that.
"""

from __future__ import annotations

from mdmemory.version import VERSION as __version__

TYPE_CHECKING = False  # `typing` costs more than all else that a hook's process loads
if TYPE_CHECKING:
    from mdmemory.actions.doctor import Finding as Finding
    from mdmemory.actions.editing import Edited as Edited
    from mdmemory.actions.erasing import Erasable as Erasable
    from mdmemory.actions.erasing import Erased as Erased
    from mdmemory.actions.glance import Glance as Glance
    from mdmemory.actions.index_place import IndexPlace as IndexPlace
    from mdmemory.actions.link_map import LinkMap as LinkMap
    from mdmemory.actions.listing import Listed as Listed
    from mdmemory.actions.note_history import Step as Step
    from mdmemory.actions.note_history import TextChange as TextChange
    from mdmemory.actions.renaming import Renamed as Renamed
    from mdmemory.actions.resolve import Conflict as Conflict
    from mdmemory.actions.resolve import Resolved as Resolved
    from mdmemory.actions.setup import Setup as Setup
    from mdmemory.actions.sync import Synced as Synced
    from mdmemory.actions.undo import Agree as Agree
    from mdmemory.actions.undo import Planned as Planned
    from mdmemory.actions.undo import Undone as Undone
    from mdmemory.capture.batch import Route as Route
    from mdmemory.capture.batch import Stores as Stores
    from mdmemory.capture.extracted import Caller as Caller
    from mdmemory.capture.extracted import Extracted as Extracted
    from mdmemory.capture.fact import FactCall as FactCall
    from mdmemory.capture.forgetting import AskedRemoval as AskedRemoval
    from mdmemory.capture.forgetting import Forgotten as Forgotten
    from mdmemory.capture.imports.run import Imported as Imported
    from mdmemory.capture.pending import PendingFact as PendingFact
    from mdmemory.capture.store_fact import Stored as Stored
    from mdmemory.citing.citation import CheckedCitation as CheckedCitation
    from mdmemory.compact.planner import Tokens as Tokens
    from mdmemory.compact.runner import Outcome as Outcome
    from mdmemory.errors import MdmemoryError as MdmemoryError
    from mdmemory.git.lock import Patience as Patience
    from mdmemory.git.log import Logged as Logged
    from mdmemory.layers import Layers as Layers
    from mdmemory.llm.answer import Answer as Answer
    from mdmemory.llm.answer import Model as Model
    from mdmemory.memory import Memory as Memory
    from mdmemory.memory_tool import MemoryTool as MemoryTool
    from mdmemory.note.note import Head as Head
    from mdmemory.note.note import Note as Note
    from mdmemory.observe.observations import Observations as Observations
    from mdmemory.search.notes import Report as Report
    from mdmemory.search.project import Updated as Updated
    from mdmemory.search.results import Found as Found
    from mdmemory.search.results import Hit as Hit
    from mdmemory.search.results import Passage as Passage
    from mdmemory.session.promotion import Accounting as Accounting
    from mdmemory.session.recalls import KnownSession as KnownSession
    from mdmemory.session.recalls import NoteRecalled as NoteRecalled
    from mdmemory.session.session import SessionMemory as SessionMemory
    from mdmemory.session.storage import Swept as Swept
    from mdmemory.store.adopt import Look as Look
    from mdmemory.store.conflicts import Entry as Entry
    from mdmemory.store.evidence import Evidence as Evidence
    from mdmemory.store.project import Project as Project
    from mdmemory.store.refresh import Refreshed as Refreshed
    from mdmemory.store.state import State as State
    from mdmemory.store.store import StoredNote as StoredNote
    from mdmemory.store.writer import NoteSource as NoteSource
    from mdmemory.store.writer import Written as Written
    from mdmemory.transcripts.turns import Turn as Turn

# `Memory`, and the types that its methods take and return: the names of each module.
_PUBLIC = {
    "actions.doctor": "Finding",
    "actions.editing": "Edited",
    "actions.erasing": "Erasable Erased",
    "actions.glance": "Glance",
    "actions.index_place": "IndexPlace",
    "actions.link_map": "LinkMap",
    "actions.listing": "Listed",
    "actions.note_history": "TextChange Step",
    "actions.renaming": "Renamed",
    "actions.resolve": "Conflict Resolved",
    "actions.setup": "Setup",
    "actions.sync": "Synced",
    "actions.undo": "Agree Planned Undone",
    "capture.batch": "Route Stores",
    "capture.extracted": "Caller Extracted",
    "capture.fact": "FactCall",
    "capture.forgetting": "AskedRemoval Forgotten",
    "capture.imports.run": "Imported",
    "capture.pending": "PendingFact",
    "capture.store_fact": "Stored",
    "citing.citation": "CheckedCitation",
    "compact.planner": "Tokens",
    "compact.runner": "Outcome",
    "errors": "MdmemoryError",
    "git.lock": "Patience",
    "git.log": "Logged",
    "layers": "Layers",
    "llm.answer": "Answer Model",
    "memory": "Memory",
    "memory_tool": "MemoryTool",
    "note.note": "Head Note",
    "observe.observations": "Observations",
    "search.notes": "Report",
    "search.project": "Updated",
    "search.results": "Found Hit Passage",
    "session.recalls": "KnownSession NoteRecalled",
    "session.promotion": "Accounting",
    "session.session": "SessionMemory",
    "session.storage": "Swept",
    "store.adopt": "Look",
    "store.conflicts": "Entry",
    "store.evidence": "Evidence",
    "store.project": "Project",
    "store.refresh": "Refreshed",
    "store.state": "State",
    "store.store": "StoredNote",
    "store.writer": "NoteSource Written",
    "transcripts.turns": "Turn",
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = ["__version__", *_MODULE_OF]


def __getattr__(name: str) -> object:
    # each is loaded when it is asked for: `mdmemory --help` must not pay for them
    if name in _MODULE_OF:
        from importlib import import_module

        return getattr(import_module(f"mdmemory.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
