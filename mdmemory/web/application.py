"""The pages by their addresses, and what becomes of a failure."""

from __future__ import annotations

from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from mdmemory import assets
from mdmemory.errors import Busy, MdmemoryError, NoteChanged, NotFound
from mdmemory.web import inbox
from mdmemory.web.site import TEMPLATES, Site, redirect

_NOTE = "/note/{layer}/{name}"
# method, address, and what answers
PAGES = (
    ("GET", "/inbox", inbox.inbox),
    ("GET", "/inbox/edit/{id:path}", inbox.edit),
    ("POST", "/inbox/answer/{action}/{id:path}", inbox.answer),
    ("POST", "/undo", inbox.undo),
)
_TYPED = 40  # characters from which on a field is given back after a failure


def application(site: Site) -> Starlette:
    """The application without its guard."""
    routes = [Route(path, partial(page, site), methods=[method]) for method, path, page in PAGES]
    routes += [Route("/", lambda _: redirect("/inbox")), Route("/keys", partial(_keys, site))]
    static = StaticFiles(directory=assets.path(f"{TEMPLATES}/static"))
    return Starlette(
        routes=[*routes, Mount("/static", static)],
        exception_handlers={
            MdmemoryError: partial(_failed, site), HTTPException: partial(_missing, site),
        },
    )  # fmt: skip


def _keys(site: Site, request: Request) -> Response:
    return site.page(request, "keys.html")


def _failed(site: Site, request: Request, problem: Exception) -> Response:
    """A sentence and the next step; what was typed is given back."""
    assert isinstance(problem, MdmemoryError)
    status = 404 if isinstance(problem, NotFound) else 400
    if isinstance(problem, NoteChanged | Busy):
        status = 409
    fields = site.form(request).fields
    typed = [
        (name, text) for name, texts in fields.items() for text in texts if len(text) >= _TYPED
        and name != "seen"
    ]  # fmt: skip
    return site.page(
        request, "problem.html", status=status, message=problem.message, hint=problem.hint,
        typed=typed, back=_back(request),
    )  # fmt: skip


def _missing(site: Site, request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    said = "There is no such page." if problem.status_code == 404 else "That cannot be done here."
    return site.page(
        request, "problem.html", status=problem.status_code, message=said,
        hint="The pages stand at the top.", typed=[], back="/inbox",
    )  # fmt: skip


def _back(request: Request) -> str:
    first = request.url.path.strip("/").partition("/")[0]
    return (
        f"/{first}"
        if first in ("memory", "changes", "compaction", "sessions", "health")
        else "/inbox"
    )
