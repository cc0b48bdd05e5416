"""The ASGI application: addresses to pages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from mle_ext_report.pages import ASSETS
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from mlecore.runs.waiting import FILE as WAITING

from . import compare, group_page, part_pages, run_page
from .access import Guard
from .conversation import Conversations
from .output import Outputs
from .places import Missing, child
from .rows import file_stamp, stamp
from .run_page import full_record
from .site import Site

INTERVAL = 1.0  # seconds between two looks at what a page shows
_REST = 9  # times as long as a look took: a page that is open takes a tenth of a CPU at most
_LASTS = 3600.0  # seconds of an event stream; browsers open a new one
_BEAT = 15.0  # seconds after which a stream without news says so, which shows whether the page is still open


def make_app(runs: Path, token: str, where: str = "") -> ASGIApp:
    """All pages of a runs folder, below /TOKEN/. ``where``: what commands on them need to find it."""
    site = Site(runs, where=where)
    outputs, conversations = Outputs(), Conversations()
    assets = {name: (ASSETS / name).read_text(encoding="utf-8") for name in ("pages.css", "pages.js")}
    assets |= {"view.css": site.css, "view.js": site.js}

    def page(make: Callable[[Request], str]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            depth = request.url.path.count("/") - 1
            text, found = await run_in_threadpool(site.or_missing, depth, lambda: make(request))
            return HTMLResponse(text.encode("utf-8", "backslashreplace"), 200 if found else 404)

        return answer

    def asset(name: str) -> Callable[[Request], Response]:
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        return lambda request: Response(assets[name], media_type=kind)

    async def log_part(request: Request) -> Response:
        try:
            part = await run_in_threadpool(part_pages.log_part, site, outputs, *_run(request), request.query_params)
        except Missing as error:
            return JSONResponse({"why": str(error)}, 404)
        return JSONResponse(part)

    async def events(request: Request) -> Response:
        group, run = (request.query_params.get(name, "") for name in ("group", "run"))
        return StreamingResponse(_changes(request, site, group, run), media_type="text/event-stream")

    routes: dict[str, Callable[[Request], str]] = {
        "/index.html": lambda r: group_page.groups_page(site, r.query_params),
        "/g/{group}/index.html": lambda r: group_page.group_page(site, r.path_params["group"], r.query_params),
        "/g/{group}/{run}/index.html": lambda r: run_page.run_page(site, *_run(r)),
        "/g/{group}/{run}/log.html": lambda r: part_pages.log_page(site, outputs, *_run(r), r.query_params),
        "/g/{group}/{run}/code.html": lambda r: part_pages.code_page(site, *_run(r)),
        "/g/{group}/{run}/file.html": lambda r: part_pages.file_page(site, *_run(r), r.query_params.get("path", "")),
        "/g/{group}/{run}/changes.html": lambda r: part_pages.changes_page(site, *_run(r), r.query_params),
        "/g/{group}/{run}/calls.html": lambda r: part_pages.calls_page(
            site, conversations, *_run(r), part_pages.number(r.query_params, "page")
        ),
        "/g/{group}/{run}/record.html": lambda r: part_pages.record_page(site, *_run(r)),
        "/compare.html": lambda r: compare.compare_page(
            site, conversations, r.query_params.get("a", ""), r.query_params.get("b", "")
        ),
    }
    app = Starlette(
        routes=[
            Route("/", lambda request: RedirectResponse("index.html")),
            *(Route(path, page(make)) for path, make in routes.items()),
            *(Route(f"/{name}", asset(name)) for name in assets),
            Route("/g/{group}/{run}/log.part", log_part),
            Route("/events", events),
        ]
    )
    return Guard(app, token)


def _run(request: Request) -> tuple[str, str]:
    return request.path_params["group"], request.path_params["run"]


async def _changes(request: Request, site: Site, group: str, run: str) -> AsyncIterator[str]:
    """One event for each change of what a page shows."""
    known: object = None
    ends, beats = time.monotonic() + _LASTS, time.monotonic() + _BEAT
    yield "retry: 2000\n\n"
    while time.monotonic() < ends and not await request.is_disconnected():
        began = time.monotonic()
        try:
            now = await run_in_threadpool(_version, site, group, run)
        except (Missing, OSError):
            now = None
        if now != known and known is not None:
            yield "data: changed\n\n"
        elif time.monotonic() > beats:
            yield ": nothing new\n\n"
        if now != known or time.monotonic() > beats:
            beats = time.monotonic() + _BEAT
        known = now
        await asyncio.sleep(max(INTERVAL, _REST * (time.monotonic() - began)))


def _version(site: Site, group: str, run: str) -> object:
    """Another value when the page of all groups, of a group, or of a run would show something else."""
    if group and run:
        folder = site.catalogue.group(group).folder
        calls = site.live.look(full_record(site, group, run))
        return stamp(str(child(folder, run))), file_stamp(f"{folder}/{WAITING}"), calls
    if group:
        runs = site.catalogue.group(group).look()
        at_work = [row.record.name for row in runs.rows.values() if row.record.state == "running"]
        return runs.version, site.live.look_at(full_record(site, group, name) for name in at_work)
    return tuple((runs.name, runs.version) for runs in site.catalogue.look())
