"""What every page has: the two stores, what is kept of them, templates, forms and acts."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote, unquote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from mdmemory import assets
from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.layers import PROJECT, USER
from mdmemory.memory import Memory
from mdmemory.version import VERSION
from mdmemory.web import marks
from mdmemory.web.access import FIELD, Access
from mdmemory.web.acts import Acts, Remembered
from mdmemory.web.cache import KeptValue, KeptValues
from mdmemory.web.guard import FORM
from mdmemory.web.jobs import Jobs

if TYPE_CHECKING:
    from jinja2 import Environment

    from mdmemory.actions.glance import Glance
    from mdmemory.review.items import InboxItem

TEMPLATES = "templates/web"
ITEMS = "items"  # the name under which the inbox is kept
_AGAIN = 2  # seconds after which a page that waits for something is asked for again
_AGE = 60.0  # seconds after which the stores are opened anew: a setting or a store may be new
T = TypeVar("T")


class Form:
    """The fields of a form that was posted."""

    def __init__(self, fields: Mapping[str, list[str]]) -> None:
        self.fields = fields

    def get(self, name: str) -> str:
        """The one value of a field, "" where there is none; browsers end lines with CRLF."""
        values = self.fields.get(name, [])
        return values[0].replace("\r\n", "\n") if values else ""

    def all(self, name: str) -> list[str]:
        """All values of a field."""
        return self.fields.get(name, [])


@dataclass
class Site:
    """The state of one run. `open_layers` opens the stores anew; `record` writes down a failure
    that nobody foresaw, and gives the file; `is_at_terminal`: a person started it, so what only a
    person may see is shown; `deferred` are items that they put off; `shown` are those of forms that
    were made, by what the form says of them."""

    access: Access
    open_layers: Callable[[], Memory]
    record: Callable[[Exception], str]
    is_at_terminal: bool = True
    kept: KeptValues = field(default_factory=KeptValues)
    acts: Acts = field(default_factory=Acts)
    jobs: Jobs = field(default_factory=Jobs)
    deferred: set[str] = field(default_factory=set)
    shown: Remembered[InboxItem] = field(default_factory=Remembered)
    acting: threading.Lock = field(default_factory=threading.Lock)
    _opened: tuple[float, Memory] | None = None
    _seen: threading.local = field(default_factory=threading.local)  # of the page of a thread

    @property
    def layers(self) -> Memory:
        """Both stores; opened anew now and then."""
        now = time.monotonic()
        if self._opened is None or now - self._opened[0] > _AGE:
            self._opened = (now, self.open_layers())
        return self._opened[1]

    def memory(self, layer: str) -> Memory:
        """The memory of a layer by its name in an address. Raises NotFound."""
        memory = {PROJECT: self.layers.of_project, USER: self.layers.of_person}.get(layer)
        if memory is None:
            raise NotFound(f"There is no store called {layer[:20]}.", "Begin at the inbox.")
        return memory

    # --- what is kept

    def look(self) -> None:
        """Look at the stores anew: at the beginning of each page, and after each act."""
        self._seen.glances = {}

    def glance(self, memory: Memory) -> Glance:
        """How a store looks, as far as this page is concerned."""
        seen: dict[Path, Glance] = self._seen.__dict__.setdefault("glances", {})
        place = memory.project.store
        if place not in seen:
            seen[place] = memory.glance()
        return seen[place]

    def close(self) -> None:
        """End what goes on beside the pages."""
        self.kept.close()

    def glances(self) -> tuple[tuple[str, Glance], ...]:
        """How both stores look."""
        return tuple((layer, self.glance(memory)) for layer, memory in self.layers.each())

    def of_notes(self, name: str, layer: str, make: Callable[[Memory], T]) -> KeptValue[T]:
        """A value that is made from the notes of a layer."""
        memory = self.memory(layer)
        mark = (memory.project.store, self.glance(memory).notes)
        return self.kept.get((name, layer), mark, lambda: make(memory))

    def of_commits(self, name: Hashable, memory: Memory, make: Callable[[], T]) -> T:
        """A value that is made from the commits of a store, and is waited for."""
        mark = self.glance(memory).commits
        cache = self.kept.get((name, memory.project.store), mark, make)
        return cache.value if cache.is_fresh else make()

    def items(self) -> KeptValue[list[InboxItem]]:
        """All that waits for a person in both layers."""
        from mdmemory.review import waiting

        marks_ = tuple((layer, g.notes, g.commits, g.inbox) for layer, g in self.glances())
        layers = self.layers
        # what notes cite lies in the project, which nobody watches: it is asked now and then
        half_minute = int(time.monotonic() / 30)
        return self.kept.get(ITEMS, (marks_, half_minute), lambda: waiting.items(layers))

    # --- pages

    @cached_property
    def templates(self) -> Environment:
        """The templates; every text that they put on a page is cleaned and escaped."""
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        made = Environment(
            loader=FileSystemLoader(assets.asset_path(TEMPLATES)), autoescape=True,
            undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=marks.shown,
            auto_reload=False,
        )  # fmt: skip
        made.globals |= {
            "version": VERSION, "form_field": FIELD, "note_path": note_path, "query": _query,
            "form_token": lambda path: self.access.form_token(unquote(path.partition("?")[0])),
        }  # fmt: skip
        made.filters |= {
            "plural": plural, "minute": minute, "whose": whose, "commands": marks.commands,
            "quoted": shlex.quote,
        }  # fmt: skip
        return made

    def page(
        self, request: Request, template: str, *, status: int = 200, is_fresh: bool = True,
        wait: bool = False, **values: Any,
    ) -> Response:  # fmt: skip
        """A page. Where it is not of now, or has to `wait` for something, the browser asks for it
        again: by the script of the pages, else after so many seconds."""
        items = self.items()
        act = self.acts.get(request.query_params.get("done", ""))
        known = {
            "path": request.url.path, "waits": len(items.value), "act": act, "is_fresh": is_fresh,
            "wait": _AGAIN if wait or not is_fresh else 0,
            "can_undo": act is not None and act.back is not None,
            "has_both": len(self.layers.there()) == 2, "here": self.here(),
        }  # fmt: skip
        text = self.templates.get_template(template).render(**known, **values)
        return HTMLResponse(text, status)

    def here(self) -> str:
        """What the pages are about: the project's folder, else the person's own store."""
        layers = self.layers
        return layers.of_project.project.top.name if layers.of_project else "your own store"

    def form(self, request: Request) -> Form:
        """The form that a request brought; the guard has read it."""
        return Form(request.scope.get(FORM, {}))

    def done(
        self, text: str, back: Callable[[], str] | None = None, then: str = "/inbox",
        undone: str = "",
    ) -> Response:  # fmt: skip
        """The answer after an act: the page that shows what became of it, which says it. `undone`
        is the page after it was taken back, if another one."""
        self.look()
        act = self.acts.add(text, back, undone or then.partition("?")[0])
        return redirect(then, done=act.id)

    def undoing(self, memory: Memory, id: str | None) -> Callable[[], str] | None:
        """How a change is taken back; None for no change."""
        if id is None:
            return None

        def back() -> str:
            return undo(memory, id)

        return back


def undo(memory: Memory, id: str) -> str:
    """Take a change back; a sentence. Raises MdmemoryError where a file of it stays."""
    undone = memory.undo(id)
    facts = "; ".join(undone.facts) or id
    if undone.kept:
        files = ", ".join(f"{file} ({why})" for file, why in undone.kept)
        raise MdmemoryError(
            f"Not taken back: {files}.", "Look at the history of the note to bring its text back."
        )
    return f"Taken back: {facts}"


def redirect(path: str, **more: str) -> Response:
    """Lead the browser to a page of ours, with GET."""
    target, mark, place = path.partition("#")
    join = "&" if "?" in target else "?"
    query = f"{join}{urlencode(more)}" if more else ""
    return RedirectResponse(f"{target}{query}{mark}{place}", 303)


def note_path(layer: str, file: str) -> str:
    """The address of a note's page."""
    return f"/note/{layer}/{quote(file.removesuffix('.md'), safe='')}"


def _query(**values: object) -> str:
    """The part of an address behind the `?`, without what is empty."""
    given = {name: value for name, value in values.items() if value not in ("", None, 0, False)}
    return f"?{urlencode(given)}" if given else "?"


def plural(count: int, noun: str) -> str:
    """`1 note`, `2 notes`, `10,000 notes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def minute(time: str) -> str:
    """The day and minute of an ISO time."""
    return time[:16].replace("T", " ")


def whose(layer: str) -> str:
    """How a page marks what is of the person's own store; the project's needs no mark."""
    return "your own" if layer == USER else ""


# --- long lists


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """One page of a list: its `rows`, its `number` from 1, the `last` one's, and how many rows
    there are in all."""

    rows: Sequence[T]
    number: int
    last: int
    total: int


def cut(rows: Sequence[T], wish: str, size: int) -> ListPage[T]:
    """The page that an address asks for, the nearest that there is."""
    last = max(1, -(-len(rows) // size))
    number = min(max(1, whole(wish)), last)
    return ListPage(rows[(number - 1) * size : number * size], number, last, len(rows))


def whole(number: str) -> int:
    """The number in an address, 0 where there is none."""
    return int(number) if number.isascii() and number.isdecimal() and len(number) < 9 else 0
