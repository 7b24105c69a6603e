"""mdmemory: long-term memory for coding assistants, as markdown notes in git.

docs/architecture.md draws the rooms from the ground up; a module imports from its own room or from
one further down, and tests/test_floors.py holds it to that.
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
    from mdmemory.actions.glance import LinkMap as LinkMap
    from mdmemory.actions.listing import IndexPlace as IndexPlace
    from mdmemory.actions.listing import Listed as Listed
    from mdmemory.actions.note_history import Step as Step
    from mdmemory.actions.note_history import TextChange as TextChange
    from mdmemory.actions.renaming import Renamed as Renamed
    from mdmemory.actions.resolve import Across as Across
    from mdmemory.actions.resolve import Resolved as Resolved
    from mdmemory.actions.setup import Setup as Setup
    from mdmemory.actions.sync import Synced as Synced
    from mdmemory.actions.undo import Agree as Agree
    from mdmemory.actions.undo import Planned as Planned
    from mdmemory.actions.undo import Undone as Undone
    from mdmemory.capture.batch import Route as Route
    from mdmemory.capture.extracted import Caller as Caller
    from mdmemory.capture.extracted import Extracted as Extracted
    from mdmemory.capture.fact import Fact as Fact
    from mdmemory.capture.fact import FactCall as FactCall
    from mdmemory.capture.forgetting import AskedRemoval as AskedRemoval
    from mdmemory.capture.forgetting import Forgotten as Forgotten
    from mdmemory.capture.imports.run import Imported as Imported
    from mdmemory.capture.pending import PendingFact as PendingFact
    from mdmemory.capture.store_fact import Stored as Stored
    from mdmemory.citing.citation import CheckedCitation as CheckedCitation
    from mdmemory.compact.planner import Tokens as Tokens
    from mdmemory.compact.runner import Outcome as Outcome
    from mdmemory.config.person import Places as Places
    from mdmemory.config.settings import Settings as Settings
    from mdmemory.errors import MdmemoryError as MdmemoryError
    from mdmemory.git.commits_of_store import History as History
    from mdmemory.git.lock import Patience as Patience
    from mdmemory.git.log import Logged as Logged
    from mdmemory.layers import OpenStore as OpenStore
    from mdmemory.llm.answer import Answer as Answer
    from mdmemory.llm.answer import Model as Model
    from mdmemory.memory import Memory as Memory
    from mdmemory.memory_tool import MemoryTool as MemoryTool
    from mdmemory.note.note import Head as Head
    from mdmemory.note.note import Note as Note
    from mdmemory.observe.observations import Observations as Observations
    from mdmemory.search.notes import Report as Report
    from mdmemory.search.project import Search as Search
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
    from mdmemory.store.refresh import Refresher as Refresher
    from mdmemory.store.state import State as State
    from mdmemory.store.store import StoredNote as StoredNote
    from mdmemory.store.writer import NoteSource as NoteSource
    from mdmemory.store.writer import StoredIn as StoredIn
    from mdmemory.store.writer import Writer as Writer
    from mdmemory.store.writer import Written as Written
    from mdmemory.transcripts.turns import Turn as Turn

# `Memory`, and the types that its methods take and return
_PUBLIC = """
    actions.doctor.Finding actions.editing.Edited actions.erasing.Erasable
    actions.erasing.Erased actions.glance.Glance actions.glance.LinkMap
    actions.listing.IndexPlace actions.listing.Listed actions.note_history.Step
    actions.note_history.TextChange actions.renaming.Renamed actions.resolve.Across
    actions.resolve.Resolved actions.setup.Setup actions.sync.Synced actions.undo.Agree
    actions.undo.Planned actions.undo.Undone capture.batch.Route capture.extracted.Caller
    capture.extracted.Extracted capture.fact.Fact capture.fact.FactCall
    capture.forgetting.AskedRemoval capture.forgetting.Forgotten capture.imports.run.Imported
    capture.pending.PendingFact capture.store_fact.Stored citing.citation.CheckedCitation
    compact.planner.Tokens compact.runner.Outcome config.person.Places config.settings.Settings
    errors.MdmemoryError git.commits_of_store.History git.lock.Patience git.log.Logged
    layers.OpenStore llm.answer.Answer llm.answer.Model memory.Memory memory_tool.MemoryTool
    note.note.Head note.note.Note observe.observations.Observations search.notes.Report
    search.project.Search search.project.Updated search.results.Found search.results.Hit
    search.results.Passage session.promotion.Accounting session.recalls.KnownSession
    session.recalls.NoteRecalled session.session.SessionMemory session.storage.Swept
    store.adopt.Look store.conflicts.Entry store.evidence.Evidence store.project.Project
    store.refresh.Refreshed store.refresh.Refresher store.state.State store.store.StoredNote
    store.writer.NoteSource store.writer.StoredIn store.writer.Writer store.writer.Written
    transcripts.turns.Turn
"""
_MODULE_OF = {each.rpartition(".")[2]: each.rpartition(".")[0] for each in _PUBLIC.split()}
__all__ = ["__version__", *_MODULE_OF]


def __getattr__(name: str) -> object:
    # each is loaded when it is asked for: `mdmemory --help` must not pay for them
    if name in _MODULE_OF:
        from importlib import import_module

        return getattr(import_module(f"mdmemory.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
