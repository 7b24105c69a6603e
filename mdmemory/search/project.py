"""The search of one project: its database, kept up to date with its notes, and answers from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mdmemory.citing.citation import CheckedCitation, tell_drift
from mdmemory.errors import MdmemoryError, RepositoryState, Unwritable
from mdmemory.note.note import SUPERSEDED, Head, Note
from mdmemory.search import answer, embeddings, notes, sqlite
from mdmemory.search import database as databases
from mdmemory.search.database import Database, LockedError, Row
from mdmemory.search.embeddings import REFUSED, Embedder
from mdmemory.search.notes import Report
from mdmemory.search.query import terms_of
from mdmemory.search.ranking import by_rank
from mdmemory.search.results import ALL, MEMORY, SOURCES, Found, Hit
from mdmemory.store import catalog
from mdmemory.store.conflicts import IN_CONFLICT, open_entries
from mdmemory.store.refresh import Refresher

if TYPE_CHECKING:
    from mdmemory.git.commits_of_store import History

FILE = "search.db"
_LATER = "Another process is writing the search database: the newest changes may be missing."


class Updated(NamedTuple):
    """What became of the database: the files that were different, how many chunks it now has, and
    what there is to say."""

    changed: tuple[str, ...]
    chunks: int
    said: tuple[str, ...] = ()


class Feeder(Protocol):
    """What keeps one source beside the notes up to date, and what there is to say of it."""

    def update(self, database: Database, report: Report) -> list[str]: ...


class Search:
    """What can be asked about the notes of a project; `refresher` tells when they changed.

    `others` are sources beside the notes, by name. `embedder` gives who makes vectors (None: there
    are none); it is asked when one is needed, and may raise MdmemoryError.
    """

    def __init__(
        self, refresher: Refresher, others: Mapping[str, Feeder] | None = None,
        embedder: Callable[[], Embedder | None] | None = None,
    ) -> None:  # fmt: skip
        self._refresher = refresher
        self._seen: tuple[object, ...] = (None,)  # what the database was brought up to
        self._others = others or {}
        self._embedder = embedder or (lambda: None)
        is_local = refresher.project.settings.text("search.embeddings") == "local"
        self._most = embeddings.EACH_SEARCH_LOCAL if is_local else embeddings.EACH_SEARCH

    def find(
        self, query: str, k: int, today: date, *, source: str = MEMORY,
        report: Report = lambda *_: None, at: str | None = None, history: History | None = None,
    ) -> Found:  # fmt: skip
        """The best places for a query in a source, or in all, as they are now; with `at`, in the
        notes as they stood at that commit of `history`. Raises NotFound for an unknown commit."""
        if at is not None and history:

            def ask_commit(database: Database) -> Found:
                notes.fill_from_commit(database, history, at, is_held=self._is_held, report=report)
                return answer.answer_query(database, query, source=MEMORY, k=k, today=today)

            return sqlite.use_file(None, databases.STAMP, ask_commit)[0]
        wanted = [each for each in SOURCES if source in (each, ALL)]

        def run_query(database: Database) -> tuple[Found, list[str]]:
            late: list[str] = []
            meaning = None
            try:
                if MEMORY in wanted:
                    self._update_notes(database, report)
                for each in wanted:
                    if each in self._others:
                        late += self._others[each].update(database, report)
                meaning, missing = self._make_meaning(database, wanted, query, report)
                late += missing
            except LockedError:
                late.append(_LATER)
            ask = partial(answer.answer_query, database, query, k=k, today=today, meaning=meaning)
            results = [ask(source=each) for each in wanted]
            return (results[0] if len(results) == 1 else answer.merge_sources(results, k)), late

        path = self._database_path()
        (results, late), sentences = self._use_chosen(path, run_query)
        if path is None:
            place = self._refresher.project.private
            sentences.append(f"{place} cannot be used: everything is read anew for this search.")
        hits = self._mark_hits(results.hits)
        return results._replace(hits=hits, said=(*sentences, *late, *results.said))

    def _mark_hits(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """The hits, each note with what replaced it or with the mark of an open conflict, and with
        how what it cites stood at the last check; marked, too, where that was changed or moved."""
        # the files of open conflicts that concern any of these; only those few are read
        files = {hit.file for hit in hits if hit.source == MEMORY}
        ledger = self._refresher.store.ledger()
        entries = [e for e in open_entries(ledger) if files & {*e.files}] if ledger else []
        contested = {
            file for entry in entries for file in entry.files
            if all(self._head_of(each).status != SUPERSEDED for each in entry.files)
        }  # fmt: skip
        checked: Mapping[str, tuple[CheckedCitation, ...]] = {}
        if cited := {hit.file: hit.cited.split("\n") for hit in hits if hit.cited}:
            from mdmemory.citing.check import recorded_citations

            checked = recorded_citations(self._refresher.project, cited.items())
        marked = []
        for hit in hits:
            if hit.source == MEMORY and hit.status == SUPERSEDED:
                hit = hit._replace(superseded_by=self._head_of(hit.file).superseded_by)
            elif hit.source == MEMORY and not hit.status and hit.file in contested:
                hit = hit._replace(status=IN_CONFLICT)
            if cites := checked.get(hit.file, ()) if hit.cited else ():
                hit = hit._replace(cites=cites, status=hit.status or tell_drift(cites)[0])
            marked.append(hit)
        return tuple(marked)

    def _head_of(self, file: str) -> Head:
        """The head of a note; an empty one where it is gone."""
        try:
            return self._refresher.store.read(file).note.head
        except MdmemoryError:
            return Head(file, "", "", "")

    def _make_meaning(
        self, database: Database, wanted: Sequence[str], query: str, report: Report
    ) -> tuple[answer.Meaning | None, list[str]]:
        """The query as a vector, after all that is searched has one, and what there is to say;
        None where there are no vectors, or none can be had now."""
        sentences: list[str] = []
        if not any(map(str.isalnum, query)):
            return None, sentences
        try:
            embedder = self._embedder()
            if embedder is None or not embeddings.reads_script(embedder.model, query):
                return None, sentences
            if not database.lasting:
                raise Unwritable("Vectors cannot be kept here, and so are not made.")
            try:
                missing = sum(
                    embeddings.fill_vectors(
                        database, each, embedder, most=self._most, report=report
                    )
                    for each in wanted
                )
            except MdmemoryError as problem:
                if problem.code != REFUSED:
                    raise  # who is not there for the texts is not there for the query
                sentences.append(f"Some texts are searched by words only. {problem.message}")
            else:
                if missing:
                    are = "1 text is" if missing == 1 else f"{missing} texts are"
                    sentences.append(f"{are} searched by words only until the next searches have "
                                "made their vectors.")  # fmt: skip
            vector = embeddings.of_query(database, embedder, query)
            return answer.Meaning(embedder.model, vector), sentences
        except MdmemoryError as problem:
            sentences.append(f"Searched by words only. {problem.sentences}")
            return None, sentences

    def near(self, text: str) -> list[str]:
        """The files of the notes near a text, the nearest first: by the words that both have, and
        by meaning where there is an embedder, which has to be quick. Raises UnusableError and
        MdmemoryError."""

        def find_job(database: Database) -> list[str]:
            with suppress(LockedError):  # then the newest notes are missing
                self._update_notes(database, lambda *_: None)
            return [row.file for row in self._near_rows(database, text)]

        return self._use_chosen(self._database_path(), find_job)[0]

    def _near_rows(self, database: Database, text: str) -> list[Row]:
        """The best place of each note near a text, the nearest first."""
        terms = terms_of(text)
        channels = [database.best(terms, (), MEMORY, answer.CANDIDATES) if terms else {}]
        with suppress(MdmemoryError, LockedError):
            embedder = self._embedder() if text.strip() and database.lasting else None
            if embedder is not None:
                embeddings.fill_vectors(database, MEMORY, embedder, most=embeddings.EACH_NEAR)
                (vector,) = embeddings.embed_texts(embedder, [text[: embeddings.LONGEST]])
                near, low = database.nearest(MEMORY, embedder.model, vector, answer.CANDIDATES)
                channels.append(answer.meant_chunks(near, low))
        rows = database.rows({*channels[0], *channels[-1]})
        best: dict[str, Row] = {}
        for row in (rows[chunk] for each in channels for chunk in each if chunk in rows):
            best.setdefault(row.file, row)
        files = ([rows[chunk].file for chunk in each if chunk in rows] for each in channels)
        return [best[file] for file in by_rank(*files)]

    def texts(self, may: Callable[[str], bool]) -> dict[str, bool]:
        """What `may` says of the description with the text of each note in the database, by file.
        Raises UnusableError and MdmemoryError, also where not all notes can be in it."""

        def texts_job(database: Database) -> dict[str, bool]:
            self._update_notes(database, lambda *_: None)
            verdicts = {}
            for (file, description), rows in groupby(database.texts(MEMORY), itemgetter(0, 1)):
                verdicts[file] = may(f"{description} {''.join(text for _, _, text in rows)}")
            return verdicts

        path = self._refresher.project.prepare_private() / FILE
        return self._use_chosen(path, texts_job, must=True)[0]

    def for_message(self, text: str, today: date, *, may_change: bool = False) -> list[Hit]:
        """The notes that a message needs, by its words alone, the surest first; most messages need
        none. With one that `may_change` what is remembered go the notes near it, whatever it needs.
        Raises UnusableError and MdmemoryError."""
        from mdmemory.search.by_message import MOST, is_telling, needed_notes

        def message_job(database: Database) -> list[Hit]:
            with suppress(LockedError):  # then the newest notes are missing
                self._update_notes(database, lambda *_: None)
            hits = needed_notes(database, text, today)
            is_open = may_change and len(hits) < MOST and is_telling(text, today)
            near = self._near_rows(database, text) if is_open else []
            files = {hit.file for hit in hits}
            more = [
                answer.make_hit(row, -at) for at, row in enumerate(near) if row.file not in files
            ]
            return [*hits, *more][:MOST]

        path = self._database_path()
        if path is None:  # all notes would be read for each message
            return []
        return [*self._mark_hits(tuple(self._use_chosen(path, message_job)[0]))]

    def update(
        self, report: Report = lambda *_: None, *, anew: bool = False, vectors: bool = False
    ) -> Updated:
        """Bring the database up to date with the notes, or make it anew; so made, or with
        `vectors`, with all vectors of the notes where there are some. Other sources follow when
        they are searched. Raises Busy and Unwritable."""

        def update_job(database: Database) -> Updated:
            changed = self._update_notes(database, report)
            sentences = []
            try:
                embedder = self._embedder() if anew or vectors else None
                if embedder is not None:
                    embeddings.fill_vectors(database, MEMORY, embedder, most=None, report=report)
            except MdmemoryError as problem:
                sentences.append(f"Vectors are missing. {problem.sentences}")
            return Updated(tuple(changed), database.count(MEMORY), tuple(sentences))

        path = self._refresher.project.prepare_private() / FILE
        updated, sentences = self._use_chosen(path, update_job, must=True, anew=anew)
        return updated._replace(said=(*sentences, *updated.said))

    def _use_chosen(
        self, path: Path | None, job: Callable[[Database], sqlite.T], *, must: bool = False,
        anew: bool = False,
    ) -> tuple[sqlite.T, list[str]]:  # fmt: skip
        """What `job` gives, done with the database that the settings choose; where a server fails,
        and the file will do, too, with the file."""

        def in_file() -> tuple[sqlite.T, list[str]]:
            return sqlite.use_file(path, databases.STAMP, job, must=must, anew=anew)

        settings = self._refresher.project.settings
        if path is None or settings.text("search.backend") != "postgres":
            return in_file()
        from mdmemory.search.postgres import postgres  # few have a server

        server = postgres.server_for(settings.text("search.dsn"), path.parent)
        return postgres.use_server(
            server, databases.STAMP, job, None if must else in_file, anew=anew
        )

    def _update_notes(self, database: Database, report: Report) -> list[str]:
        """Bring the database up to date with the notes as `refresher` sees them, once for each
        sight; the files that were different."""
        known = self._refresher.catalog()
        sight, waiting = known.look(), known.waiting
        if self._seen[0] is sight and self._seen[1:] == (waiting, database.touched()):
            return []
        changed = notes.update_notes(
            database, self._refresher.store, sight, is_held=self._is_held, waiting=waiting,
            seen=known.seal, report=report,
        )  # fmt: skip
        self._seen = (sight, waiting, database.touched()) if database.lasting else (None,)
        return changed

    def _is_held(self, note: Note) -> bool:
        return catalog.is_held(note, self._refresher.is_secret)

    def _database_path(self) -> Path | None:
        try:
            return self._refresher.project.prepare_private() / FILE
        except (Unwritable, RepositoryState):
            return None  # a read-only project still has readers
