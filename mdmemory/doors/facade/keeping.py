"""How a Memory comes by its notes, apart from a person's own hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.doors.facade.opened import Opened
from mdmemory.errors import MdmemoryError
from mdmemory.limits import MAX_BODY

if TYPE_CHECKING:  # each is loaded by the method that needs it, so that reading stays quick
    from mdmemory.capture.assistant import Stored
    from mdmemory.capture.imports.run import Imported
    from mdmemory.capture.pending import Waiting
    from mdmemory.capture.run import Extracted
    from mdmemory.capture.transcript import Turn
    from mdmemory.capture.wishes import Inbox
    from mdmemory.compact.asked import Report
    from mdmemory.llm.answer import Model
    from mdmemory.store.editing import Edited


class Keeping(Opened):
    """How a Memory comes by its notes, apart from a person's own hand."""

    def store(
        self, content: str, *, title: str = "", type: str = "", session: str = "",
        said: Sequence[str] = (),
    ) -> Stored:  # fmt: skip
        """Keep what an assistant found worth it, as a note whose name and description come from
        the text. What no user's turn in `said` bears out is unconfirmed.

        `type` is one of the four or a category such as preferences; "" guesses. Raises NotStored
        (`reasons`) for what is no lasting fact.
        """
        from mdmemory.capture.assistant import store

        return store(
            self._writer(), content, title=title, type=type, session=session, said=said,
            now=self._clock(),
        )  # fmt: skip

    def import_from(self, path: str | Path, *, dry_run: bool = False) -> Imported:
        """Store the facts of another memory, a file or folder, as notes in one commit.

        Raises BadImport for what is none that is known.
        """
        from mdmemory.capture.imports.reading import read
        from mdmemory.capture.imports.run import store_all

        path = Path(path).expanduser()
        facts = read(path)
        return store_all(
            self._writer(), facts, label=path.name, today=self._today(), dry_run=dry_run
        )

    def extract(
        self, transcript: bytes, *, model: Model | None = None, dry_run: bool = False,
        report: Report = lambda *_: None,
    ) -> Extracted:  # fmt: skip
        """Store what deserves a note in a transcript: what the user asked to remember, and what
        `model` finds (default: the one that the settings choose, or none).

        A dry run asks the model, too. `failure` tells when no answer of it could be used.
        """
        from mdmemory import protocol
        from mdmemory.capture.run import Asking, extract
        from mdmemory.doors import models

        def ask() -> Asking | None:
            chosen = model or models.model("extract", self.project, self._today())
            if chosen is None:
                return None
            return Asking(chosen, protocol.prompt("extract", models.protocol(self.project)))

        return extract(
            self._writer(), transcript, now=self._clock(), ask=ask, dry_run=dry_run,
            report=report,
        )  # fmt: skip

    def summary_request(self) -> tuple[str, dict[str, str]]:
        """What to put into a host's compaction prompt, and the notes it numbers as `[M1]`...: file
        to digest, which `summary` takes back. At most 2,000 characters."""
        from mdmemory.capture.summary import request

        state = self._refresher().current()
        strengths, listed = state.index.strengths, set(state.index.listed)
        notes = [note for note in self.notes() if note.file in listed]
        return request(sorted(notes, key=lambda note: (-strengths[note.file], note.file)))

    def summary(
        self, session: str, text: str, said: Sequence[Turn], *,
        shown: Mapping[str, str] | None = None,
    ) -> Extracted:  # fmt: skip
        """Store the facts of a host's compaction summary that the user's turns in `said` bear out;
        the others wait in `pending`. Asks no model."""
        from mdmemory.capture.summary import take

        return take(self._writer(), session, text, said, now=self._clock(), shown=shown or {})

    def keep(self, text: str, *, session: str, turn: str) -> Extracted:
        """Store at once what one message of the user asks to remember; its turn is not read for
        requests again. Where it asks for nothing, nothing is opened or written.

        What cannot be written now is kept in an inbox: `kept` names the files, `failure` says why.
        """
        from mdmemory.capture.requests import asks, keep
        from mdmemory.capture.run import Extracted
        from mdmemory.capture.transcript import Turn
        from mdmemory.doors import inboxes

        if not asks(text):
            return Extracted(session)
        try:
            done = keep(self._writer(), session, Turn(turn, "user", text), now=self._clock())
        except (MdmemoryError, OSError) as problem:
            failure = problem if isinstance(problem, MdmemoryError) else _refused(problem)
            return kept_for_later(
                inboxes.of(self.project), text, session, turn, self._today(), failure
            )
        too_long = [drop for drop in done.dropped if drop["reasons"] == ["unfit"]]
        if too_long:
            failure = MdmemoryError(
                f"It does not fit into one note, which has at most {MAX_BODY:,} characters.",
                "Say it in parts, or move it from there into notes.", code="unfit",
            )  # fmt: skip
            later = kept_for_later(
                inboxes.of(self.project), text, session, turn, self._today(), failure, long=True
            )
            done.kept, done.failure = later.kept, later.failure
        return done

    def kept_wishes(self) -> list[Path]:
        """The files of wishes that wait to be written."""
        from mdmemory.doors import inboxes

        return [path for inbox in inboxes.of(self.project) for path in inbox.kept()]

    def write_wishes(self) -> list[Extracted]:
        """Write what was asked for earlier and could not be written; what became of it.

        What cannot be written yet stays where it is, and is no failure of what is done now.
        """
        from mdmemory.doors import inboxes

        found = [inbox for inbox in inboxes.of(self.project) if inbox.files()]
        if not found:
            return []
        from mdmemory.capture.requests import keep_what_waits

        told: list[Extracted] = []
        for inbox in found:
            try:
                told += [one for one, _ in keep_what_waits(
                    self._writer(), inbox, now=self._clock()
                )]  # fmt: skip
            except (MdmemoryError, OSError):
                continue
        return told

    def pending(self) -> list[Waiting]:
        """Candidates without enough proof, which wait for a person."""
        from mdmemory.capture import pending

        with self._state() as state:
            return pending.waiting(state, self._today())

    def accept(self, id: str) -> Edited:
        """Store a candidate that waits: a person stands by it."""
        from mdmemory.capture import pending

        return pending.accept(self._writer(), id, today=self._today())

    def drop(self, id: str) -> Waiting:
        """Take a candidate off the list; for 30 days it is not proposed again."""
        from mdmemory.capture import pending

        return pending.drop(self._writer(), id, today=self._today())


def kept_for_later(
    places: Sequence[Inbox], text: str, session: str, turn: str, today: str,
    failure: MdmemoryError, *, long: bool = False,
) -> Extracted:  # fmt: skip
    """Keep what a message asks for in the first of the inboxes that takes it. `long`: only what
    does not fit into a note."""
    from mdmemory.capture.requests import wishes_in
    from mdmemory.capture.run import Extracted

    done = Extracted(session, failure=failure)
    asked = [each for each in wishes_in(text, turn) if not long or len(each.text) > MAX_BODY]
    for inbox in places if asked else ():
        try:
            done.kept = [str(path) for path in inbox.put(asked, session, today, failure.code)]
            break
        except (MdmemoryError, OSError):
            continue
    return done


def _refused(problem: OSError) -> MdmemoryError:
    return MdmemoryError(f"The file system refused ({problem.strerror or problem}).", "", "failed")
