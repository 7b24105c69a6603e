"""`.mdmemory/state.db`: what mdmemory remembers of its own work. Never knowledge.

It may be deleted at any moment: then work is done again, and no fact is lost. Where it is not to be
had, now or in the middle of work, one in memory takes its place, and that is told.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mdmemory.errors import NoState
from mdmemory.store import database_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = int.from_bytes(b"mdmS", "big")  # our application_id
Statement = tuple[str, Sequence[object]]  # of SQL, with its values

# Each entry takes the schema one version up; entries are added, never changed.
MIGRATIONS = (
    """
    CREATE TABLE watermark (session TEXT PRIMARY KEY, turn TEXT NOT NULL);
    CREATE TABLE pass (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, outcome TEXT NOT NULL, digests TEXT NOT NULL
    );
    CREATE TABLE model_call (
        day TEXT NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL,
        calls INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
        PRIMARY KEY (day, purpose, model)
    );
    CREATE TABLE answer_form (endpoint TEXT PRIMARY KEY, form TEXT NOT NULL);
    CREATE TABLE evidence (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, session TEXT NOT NULL, phase TEXT NOT NULL,
        outcome TEXT NOT NULL, reasons TEXT NOT NULL, preview TEXT NOT NULL, near TEXT NOT NULL
    );
    CREATE TABLE pending (
        id TEXT PRIMARY KEY, type TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
        description TEXT NOT NULL, body TEXT NOT NULL, session TEXT NOT NULL,
        since TEXT NOT NULL, reasons TEXT NOT NULL, dropped INTEGER NOT NULL
    );
    CREATE TABLE session_part (
        session TEXT NOT NULL, part TEXT NOT NULL, content TEXT NOT NULL, updated TEXT NOT NULL,
        PRIMARY KEY (session, part)
    ) WITHOUT ROWID;
    CREATE TABLE promotion (
        id TEXT PRIMARY KEY, session TEXT NOT NULL, type TEXT NOT NULL, text TEXT NOT NULL,
        since TEXT NOT NULL, attempts INTEGER NOT NULL, outcome TEXT NOT NULL
    );
    CREATE TABLE sweep (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, files INTEGER NOT NULL, bytes INTEGER NOT NULL,
        sessions INTEGER NOT NULL, errors INTEGER NOT NULL
    );
    CREATE TABLE observed (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, tool TEXT NOT NULL,
        at INTEGER NOT NULL, input TEXT NOT NULL, output TEXT NOT NULL, files TEXT NOT NULL,
        key TEXT NOT NULL, status TEXT NOT NULL, retries INTEGER NOT NULL,
        taken INTEGER NOT NULL, changed INTEGER NOT NULL, UNIQUE (session, key)
    );
    CREATE TABLE observation (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, at TEXT NOT NULL,
        tool TEXT NOT NULL, model TEXT NOT NULL, type TEXT NOT NULL, title TEXT NOT NULL,
        narrative TEXT NOT NULL, facts TEXT NOT NULL, concepts TEXT NOT NULL, files TEXT NOT NULL,
        importance INTEGER NOT NULL
    );
    CREATE INDEX observation_by_time ON observation (at, id);
    CREATE TABLE session_summary (
        session TEXT PRIMARY KEY, at TEXT NOT NULL, upto INTEGER NOT NULL, model TEXT NOT NULL,
        request TEXT NOT NULL, investigated TEXT NOT NULL, learned TEXT NOT NULL,
        completed TEXT NOT NULL, next_steps TEXT NOT NULL
    );
    CREATE TABLE endpoint (
        endpoint TEXT NOT NULL, what TEXT NOT NULL, value TEXT NOT NULL, day TEXT NOT NULL,
        PRIMARY KEY (endpoint, what)
    ) WITHOUT ROWID;
    CREATE TABLE second_look (
        model TEXT PRIMARY KEY, plain INTEGER NOT NULL, affirmed INTEGER NOT NULL,
        denied INTEGER NOT NULL
    );
    -- notes that a model was shown in a compaction, which `compact/pass_history.py` reads
    CREATE TABLE look (
        file TEXT PRIMARY KEY, face TEXT NOT NULL, day TEXT NOT NULL, turn INTEGER NOT NULL,
        judge TEXT NOT NULL, tries INTEGER NOT NULL
    ) WITHOUT ROWID;
    -- turns without an answer that could be read, which `capture/unanswered.py` reads
    CREATE TABLE unanswered (
        session TEXT PRIMARY KEY, turn TEXT NOT NULL, model TEXT NOT NULL, rounds INTEGER NOT NULL,
        at TEXT NOT NULL, passed INTEGER NOT NULL
    ) WITHOUT ROWID;
    -- notes that came with messages, which `session/recalls.py` reads
    CREATE TABLE recalled (
        id INTEGER PRIMARY KEY, session TEXT NOT NULL, file TEXT NOT NULL, message TEXT NOT NULL,
        tokens INTEGER NOT NULL, at TEXT NOT NULL, seen INTEGER NOT NULL
    );
    -- what the person typed lately, which `session/heard.py` reads
    CREATE TABLE heard (
        id INTEGER PRIMARY KEY, session TEXT NOT NULL, turn TEXT NOT NULL, role TEXT NOT NULL,
        text TEXT NOT NULL, at TEXT NOT NULL, UNIQUE (session, turn, role)
    );
    -- texts of a host's own memory that were looked at, which `store/evidence.py` reads
    CREATE TABLE taken (
        id INTEGER PRIMARY KEY, place TEXT NOT NULL, file TEXT NOT NULL, digest TEXT NOT NULL,
        note TEXT NOT NULL, was TEXT NOT NULL, told INTEGER NOT NULL, UNIQUE (place, file, digest)
    );
    """,
    # the processes above the hook that heard it, and no records of judges any more
    """
    ALTER TABLE heard ADD COLUMN client TEXT NOT NULL DEFAULT '';
    DROP TABLE second_look;
    """,
    "DROP TABLE answer_form;",  # it is among what was found out about an endpoint
)
_KEPT_PASSES = 50
EMBED = "embed"  # the purpose of calls for vectors
_KEPT_DAYS = 90  # of model calls


class Pass(NamedTuple):
    """One compaction pass: when (ISO 8601, UTC), how it ended, and the digests it left."""

    at: str
    outcome: str
    digests: Mapping[str, str]


class Usage(NamedTuple):
    """What models were asked: calls begun, tokens in and tokens out."""

    calls: int = 0
    input: int = 0
    output: int = 0


class State(database_file.DatabaseFile):
    """The database, opened; use it as a context manager.

    `tell` hears in sentences what became of a file that could not be used. `trouble` says why
    there is none: then nothing that is put in outlives this object.
    """

    def __init__(self, path: Path, tell: Callable[[str], None] = lambda _: None) -> None:
        self.path = path
        super().__init__(path, MARK, MIGRATIONS, tell)

    def __enter__(self) -> State:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _ask(self, act: Callable[[sqlite3.Connection], Any]) -> Any:
        """What `act` gives; once more without the file where that fails."""
        try:
            return act(self.connection)
        except sqlite3.Error as problem:
            self.leave_file(problem)
            return self._ask(act)

    # tables whose meaning lies in a module of its own

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """What a query finds."""
        rows: list[Any] = self._ask(lambda database: database.execute(query, values).fetchall())
        return rows

    def _first_row(self, query: str, values: Sequence[object] = ()) -> Any:
        """The first row that a query finds, or None."""
        return next(iter(self.rows(query, values)), None)

    def change(self, *statements: Statement) -> None:
        """Carry out statements with their values, all or none."""
        self.amend("SELECT 1", (), lambda _: statements)

    def amend(
        self, query: str, values: Sequence[object],
        statements: Callable[[list[Any]], Sequence[Statement]],
    ) -> None:  # fmt: skip
        """Carry out what `statements` makes of the rows of a query; nobody writes in between."""

        def act(database: sqlite3.Connection) -> None:
            with database_file.write_transaction(database):
                for statement, given in statements(database.execute(query, values).fetchall()):
                    database.execute(statement, given)

        self._ask(act)

    # how far a session has been read

    def watermark(self, session: str, reader: str = "") -> str | None:
        """The id of the last turn of a session that was read, or None.

        `reader` names one that is ahead of the others: it has a watermark of its own.
        """
        query = "SELECT turn FROM watermark WHERE session = ?"
        row = self._first_row(query, (f"{session} {reader}".strip(),))  # no id holds a space
        return row[0] if row else None

    def set_watermark(self, session: str, turn: str, reader: str = "") -> None:
        """Remember the last turn that was read."""
        row = (f"{session} {reader}".strip(), turn)
        self.change(("INSERT OR REPLACE INTO watermark VALUES (?, ?)", row))

    # compaction passes

    def last_pass(self) -> Pass | None:
        """The newest compaction pass, or None."""
        row = self._first_row("SELECT at, outcome, digests FROM pass ORDER BY id DESC LIMIT 1")
        return Pass(row[0], row[1], json.loads(row[2])) if row else None

    def record_pass(self, at: str, outcome: str, digests: Mapping[str, str]) -> None:
        """Remember that a pass ended, and what the notes were after it."""
        row = (at, outcome, json.dumps(dict(digests)))
        self.change(
            ("INSERT INTO pass (at, outcome, digests) VALUES (?, ?, ?)", row),
            ("DELETE FROM pass WHERE id <= (SELECT max(id) FROM pass) - ?", (_KEPT_PASSES,)),
        )

    # model calls; a day is `YYYY-MM-DD`

    def begin_call(self, day: str, purpose: str, model: str, limit: int) -> bool:
        """Count a call that is about to be made; False when `limit` were made on that day.

        Calls for vectors, purpose EMBED, are many and cheap: they have a limit of their own.
        Raises NoState where nothing can be counted: a limit on what is spent has to hold.
        """
        query = "SELECT sum(calls) FROM model_call WHERE day = ? AND (purpose = ?) = ?"
        forget = "DELETE FROM model_call WHERE day < date(?, ?)"
        put = "INSERT INTO model_call VALUES (?, ?, ?, 1, 0, 0)"
        again = " ON CONFLICT DO UPDATE SET calls = calls + 1"

        def act(database: sqlite3.Connection) -> bool:
            with database_file.write_transaction(database):
                database.execute(forget, (day, f"-{_KEPT_DAYS} days"))
                (made,) = database.execute(query, (day, EMBED, purpose == EMBED)).fetchone()
                if (made or 0) < limit:
                    database.execute(put + again, (day, purpose, model))
            return (made or 0) < limit

        if not self._ask(act):
            return False
        if self.trouble is not None:
            hint = f"Its calls could not be counted. {self.trouble.hint}"
            raise NoState(str(self.path), f"{self.trouble.what}, so no model is asked", hint)
        return True

    def add_tokens(self, day: str, purpose: str, model: str, input: int, output: int) -> None:
        """Add what a call cost to the day it was begun on."""
        tokens = "UPDATE model_call SET input = input + ?, output = output + ?"
        where = " WHERE day = ? AND purpose = ? AND model = ?"
        self.change((tokens + where, (input, output, day, purpose, model)))

    def usage(self, day: str) -> Usage:
        """All calls of a day."""
        query = "SELECT sum(calls), sum(input), sum(output) FROM model_call WHERE day = ?"
        calls, input, output = self._first_row(query, (day,))
        return Usage(calls or 0, input or 0, output or 0)

    # what was found out about an endpoint: its window, the form of an answer, unknown fields

    def learnt(self, endpoint: str, since: str) -> dict[str, str]:
        """Each thing that was found out on the day `since` or later, with its value."""
        query = "SELECT what, value FROM endpoint WHERE endpoint = ? AND day >= ?"
        return dict(self.rows(query, (endpoint, since)))

    def learn(self, endpoint: str, what: str, value: str, day: str) -> None:
        """Remember something about an endpoint (a digest: an address may be private) as of that
        day."""
        row = (endpoint, what, value, day)
        self.change(("INSERT OR REPLACE INTO endpoint VALUES (?, ?, ?, ?)", row))
