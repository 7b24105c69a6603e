"""What a client tells the person unasked: receipts of work in the background, and at the start of a
session what happened meanwhile and what waits.

A client shows one line at a time, so lines take turns. Nothing is taken from the receipts that wait
before a person has said something: a client that just starts may show nothing yet.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.memory import Memory
from mdmemory.prompt import lines
from mdmemory.store import receipt_box
from mdmemory.store.receipt_box import Receipt

GAP = 5.0  # seconds that a line is left alone
LATER = 2.0  # seconds that a line waits for one that belongs to a message just sent
FOREIGN = 10.0  # seconds that another client has for a receipt of its own session
MOST = 10  # lines that wait

Toast = Mapping[str, str]


class Notifications:
    """The lines of one client. `clock` gives seconds that only grow.

    `shows` is whether a person sees a line: in `opencode run` nobody does, and an old plugin does
    not know how.
    """

    def __init__(
        self, open_layers: Callable[[], Memory], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._open, self._clock = open_layers, clock
        self.shows = False
        self._folders: tuple[Path, ...] = ()
        self._toasts: deque[Toast] = deque(maxlen=MOST)
        self._free_at = 0.0
        # what was done before each session; None until somebody has to know
        self._started: dict[str, list[Receipt] | None] = {}
        self._starting: deque[str] = deque(maxlen=MOST)  # sessions whose line is to be shown
        self._last: Toast = {}

    def toast(self, toast: Toast | None) -> None:
        """Put a line at the end of those that wait."""
        if toast and self.shows:
            self._toasts.append(toast)

    def shown(self) -> None:
        """Note that the client shows a line now, such as a message's own."""
        self._free_at = self._clock() + GAP

    def look_in(self, layers: Memory) -> None:
        """Remember where receipts may lie."""
        self._folders = tuple(memory.project.private for memory in layers.there())

    def begin(self, session: str) -> None:
        """Note that the person says something in a session. Its first line follows in a moment: no
        message waits for it."""
        if session in self._started:
            return
        self._started[session] = None
        self._starting.append(session)
        self._free_at = max(self._free_at, self._clock() + LATER)

    def line(self, layers: Memory, session: str) -> str:
        """The line at the start of a session, for the assistant; "" for none."""
        self.begin(session)
        waiting = count_waiting(layers)
        text = lines.start(self._before_session(session), waiting, person.now().date())
        return f"mdmemory tells the user: {text}." if text else ""

    def next(self) -> Toast | None:
        """The line to show now, or None: looked for every second, so it costs next to nothing."""
        if not self.shows or self._clock() < self._free_at:
            return None
        while self._starting and not self._toasts:
            self._start_session(self._starting.popleft())
        if not self._toasts and self._started:
            for receipt in self._take_receipts():
                self.toast(lines.as_toast(receipt))
        if not self._toasts:
            return None
        self.shown()
        return self._toasts.popleft()

    def at_event(self, layers: Memory, session: str) -> list[str]:
        """All lines there are, for a client that shows some only at the events of its sessions."""
        if not self.shows:
            return []
        self.begin(session)
        if session in self._starting:
            self._starting.remove(session)
            self._start_session(session, layers)
        for receipt in self._take_receipts():
            self.toast(lines.as_toast(receipt))
        messages = [toast["message"] for toast in self._toasts]
        self._toasts.clear()
        return messages

    def _start_session(self, session: str, layers: Memory | None = None) -> None:
        before = self._before_session(session)
        waiting = count_waiting(layers or self._open())
        toast = lines.start_toast(before, waiting, person.now().date())
        if toast != self._last:  # what waits is said once, until it changes
            self._last = toast
            self.toast(toast)

    def _before_session(self, session: str) -> list[Receipt]:
        """What was done before a session, taken from the receipts once."""
        receipts = self._started[session]
        if receipts is None:
            receipts = self._started[session] = self._take_receipts()
        return receipts

    def _take_receipts(self) -> list[Receipt]:
        """The receipts of all layers. Where nobody would see them they are only read."""
        receipts = [
            receipt
            for folder in self._folders
            for receipt in receipt_box.take_receipts(folder, self._is_ours, remove=self.shows)
        ]
        return sorted(receipts, key=lambda receipt: receipt.at)

    def _is_ours(self, receipt: Receipt) -> bool:
        """Whether the receipt is of a session here, or its own client had its time, or it does not
        say when it was left."""
        if not receipt.session or receipt.session in self._started:
            return True
        try:
            return (person.now() - datetime.fromisoformat(receipt.at)).total_seconds() > FOREIGN
        except (ValueError, TypeError):
            return True


def count_waiting(layers: Memory) -> dict[str, int]:
    """How many things of each kind wait for the user."""
    if not layers.there():
        return {}
    from mdmemory.review import waiting as inbox

    return inbox.counts(layers)


def facts_of(layers: Memory, files: Sequence[str]) -> list[str]:
    """What the notes in these files say, as the layers name them."""
    facts = []
    for file in dict.fromkeys(files):
        with suppress(MdmemoryError):  # it is gone again
            memory, name = layers.holding(file)
            facts.append(memory.note(name).note.head.description)
    return facts
