"""The pages by their addresses, and what becomes of a failure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from mdmemory import assets
from mdmemory.errors import Busy, MdmemoryError, NoteChanged, NotFound
from mdmemory.web import (
    changes,
    compaction,
    health,
    inbox,
    note,
    notes,
    overview,
    searching,
    sessions,
)
from mdmemory.web.site import TEMPLATES, Site, redirect

_NOTE = "/note/{layer}/{name}"
# method, address, and what answers
PAGES = (
    ("GET", "/inbox", inbox.inbox),
    ("GET", "/inbox/edit/{id:path}", inbox.edit),
    ("POST", "/inbox/answer/{action}/{id:path}", inbox.answer),
    ("POST", "/undo", inbox.undo),
    ("GET", "/overview", overview.overview),
    ("GET", "/memory", notes.memory),
    ("GET", "/memory/index", notes.index),
    ("POST", "/memory/add", notes.add),
    ("GET", _NOTE, note.note),
    ("GET", f"{_NOTE}/edit", note.edit),
    ("POST", f"{_NOTE}/edit", note.save),
    ("POST", f"{_NOTE}/rename", note.rename),
    ("POST", f"{_NOTE}/confirm", note.confirm),
    ("POST", f"{_NOTE}/forget", note.forget),
    ("POST", f"{_NOTE}/undo", note.undo_step),
    ("POST", f"{_NOTE}/back", note.bring_back),
    ("GET", "/changes", changes.changes),
    ("GET", "/changes/{layer}/{id}", changes.change),
    ("POST", "/changes/{layer}/{id}/undo", changes.undo),
    ("GET", "/compaction", compaction.compaction),
    ("POST", "/compaction/preview", compaction.preview),
    ("POST", "/compaction/apply", compaction.apply),
    ("GET", "/search", searching.search),
    ("GET", "/sessions", sessions.sessions),
    ("GET", "/sessions/{id}", sessions.session),
    ("POST", "/sessions/{id}/undo", sessions.undo),
    ("GET", "/health", health.health),
    ("POST", "/health/again", health.again),
)
_TYPED = ("text", "description", "body", "name")  # fields that are given back after a failure


def application(site: Site) -> Starlette:
    """The application without its guard."""
    routes = [
        Route(path, partial(_show, site, page), methods=[method]) for method, path, page in PAGES
    ]
    routes += [Route("/", lambda _: redirect("/inbox")), Route("/keys", partial(_keys, site))]
    static = StaticFiles(directory=assets.asset_path(f"{TEMPLATES}/static"))
    return Starlette(
        routes=[*routes, Mount("/static", static)],
        exception_handlers={
            MdmemoryError: partial(_fail, site), HTTPException: partial(_miss, site),
        },
    )  # fmt: skip


def _show(site: Site, page: Callable[[Site, Request], Response], request: Request) -> Response:
    """A page; a failure that nobody foresaw is one sentence, and a file for whoever mends it."""
    site.look()
    try:
        return page(site, request)
    except MdmemoryError:
        raise
    except Exception as problem:  # noqa: BLE001 - the last resort, as at the command line
        place = site.record(problem)
        text = f"Unexpected error ({type(problem).__name__})."
        return _explain(site, request, 500, text, f"Details: {place}.")


def _keys(site: Site, request: Request) -> Response:
    site.look()
    return site.page(request, "keys.html")


def _fail(site: Site, request: Request, problem: Exception) -> Response:
    """A sentence and the next step; what was typed is given back."""
    assert isinstance(problem, MdmemoryError)
    site.look()
    status = 404 if isinstance(problem, NotFound) else 400
    if isinstance(problem, NoteChanged | Busy):
        status = 409
    return _explain(site, request, status, problem.message, problem.hint)


def _explain(site: Site, request: Request, status: int, message: str, hint: str) -> Response:
    fields = site.form(request).fields
    typed = [(name, text) for name in _TYPED for text in fields.get(name, ()) if text.strip()]
    return site.page(
        request, "problem.html", status=status, message=message, hint=hint,
        typed=typed, back=_back(request),
    )  # fmt: skip


def _miss(site: Site, request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    site.look()
    text = "There is no such page." if problem.status_code == 404 else "That cannot be done here."
    return site.page(
        request, "problem.html", status=problem.status_code, message=text,
        hint="The pages stand at the top.", typed=[], back="/inbox",
    )  # fmt: skip


def _back(request: Request) -> str:
    first = request.url.path.strip("/").partition("/")[0]
    return (
        f"/{first}"
        if first in ("memory", "changes", "compaction", "sessions", "health")
        else "/inbox"
    )
