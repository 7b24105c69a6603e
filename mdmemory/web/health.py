"""Health: what the stores hold, what doctor finds, how full the index is, and where text goes."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from mdmemory import overview
from mdmemory.actions.listing import in_words
from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.hosts.problems import by_file, describe_assistants, in_all, list_problems
from mdmemory.web.jobs import Job
from mdmemory.web.site import Site, redirect

_EXAMINED = "doctor"


def health(site: Site, request: Request) -> Response:
    """The page; doctor works beside it, and is there on the next look."""
    marks = site.glances()
    job = site.jobs.get(_EXAMINED)
    if job is None:
        job = _examine(site, fix=False)
    stores = site.kept.get("stores", marks, lambda: _stores(site))
    work = site.kept.get("work", marks, lambda: overview.of_work(site.layers.main))
    rows = by_file(job.value or [])
    return site.page(
        request, "health.html", wait=not job.is_done, is_fresh=stores.is_fresh,
        stores=stores.value, work=work.value, job=job, rows=rows, in_all=in_all(rows),
        assistants=describe_assistants(site.layers.main, person.person_places().environment),
        question=site.layers.question,
    )  # fmt: skip


def _stores(site: Site) -> list[dict[str, Any]]:
    rows = []
    for layer, memory in site.layers.each():
        try:
            row = overview.of_store(memory)
            rows.append({"layer": layer, "problem": "", "counted": in_words(row), **row})
        except MdmemoryError as problem:
            rows.append({"layer": layer, "problem": problem.sentences})
    return rows


def _examine(site: Site, *, fix: bool) -> Job:
    layers = site.layers

    def work(_: Job) -> list[dict[str, Any]]:
        return list_problems(layers, person.person_places().environment, fix=fix)

    return site.jobs.begin(_EXAMINED, work, soon=0.03)


def again(site: Site, request: Request) -> Response:
    """Look again; with `fix` first repair what is safe to repair."""
    fix = site.form(request).get("fix") == "1"
    site.jobs.forget(_EXAMINED)
    with site.acting:
        _examine(site, fix=fix)
    return redirect("/health")
