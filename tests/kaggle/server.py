"""A local server that speaks as much of Kaggle's API as we use, and can misbehave on purpose.

The real client is pointed at it with KAGGLE_API_ENVIRONMENT=TEST, which means port 7777 of this machine.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import threading
import time
import zipfile
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from attrs import define

PORT = 7777
TOKEN = "KGAT_good"
USER, KEY = "ada", "0123456789abcdef"


class Fault:
    """How one answer goes wrong: a status, the link dropping after so many bytes of the body, seconds of silence."""

    def __init__(
        self, status: int = 0, *, drop_after: int = -1, headers: dict[str, str] | None = None, stall: float = 0
    ) -> None:
        self.status, self.drop_after, self.headers, self.stall = status, drop_after, headers or {}, stall


@define
class Notebook:
    """What somebody published about a competition; ``gone``: it is listed, but not given."""

    ref: str
    source: str
    votes: int = 0
    language: str = "python"
    kind: str = "notebook"  # or script
    gone: bool = False

    def described(self) -> dict[str, Any]:
        owner, slug = self.ref.split("/")
        return {
            "ref": self.ref,
            "author": owner,
            "slug": slug,
            "title": f"Title of {slug}",
            "totalVotes": self.votes,
            "language": self.language,
            "kernelType": self.kind,
        }


class FakeKaggle:
    """Archives, leaderboards and notebooks by slug; ``faults`` are used up one a request, by what is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.leaderboards: dict[str, bytes] = {}
        self.pages: dict[str, dict[str, str]] = {}  # slug -> name of a page -> its text
        self.notebooks: dict[str, list[Notebook]] = defaultdict(list)
        self.accepted: set[str] = set()
        self.closed: set[str] = set()
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        self.requests: list[tuple[str, str, str]] = []  # what, slug, Range
        self.sent: dict[str, int] = defaultdict(int)  # bytes of each archive, since count_again
        self.pace = 0.0  # seconds to wait after each 64 kB
        self.sending = threading.Event()  # cleared: an archive stops after its first 64 kB until it is set
        self.sending.set()
        self.begun = threading.Event()  # set: the first 64 kB of an archive have been sent
        self.lock = threading.Lock()

    def count_again(self) -> None:
        self.sent = defaultdict(int)

    def add(self, slug: str, files: dict[str, bytes], scores: list[float] | None = None) -> str:
        """Put an archive (and a leaderboard) there; returns its MD5."""
        with zipfile.ZipFile(self.folder / f"{slug}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        self.accepted.add(slug)
        if scores is not None:
            table = io.StringIO("")
            table.write("﻿Rank,TeamId,TeamName,LastSubmissionDate,Score,SubmissionCount,TeamMemberUserNames\n")
            for rank, score in enumerate(scores, 1):
                table.write(f'{rank},{rank},"team, {rank}",2020-01-01,{score},1,somebody{rank}\n')
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr(f"{slug}-publicleaderboard-2020.csv", table.getvalue())
            self.leaderboards[slug] = packed.getvalue()
        return self.md5(slug)

    def md5(self, slug: str) -> str:
        return hashlib.md5((self.folder / f"{slug}.zip").read_bytes()).hexdigest()

    def count(self, what: str) -> int:
        return sum(1 for asked, _, _ in self.requests if asked == what)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    kaggle: FakeKaggle

    def log_message(self, *_: object) -> None:
        return

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        what = self.path.rpartition("/")[2]
        if not self.path.startswith("/api/v1/"):
            return self._json(404, {"code": 404, "message": "Not found"})
        if self._faulty(what, request.get("competitionName") or request.get("kernelSlug") or ""):
            return None
        if what == "IntrospectToken":
            good = request["token"] == TOKEN
            return self._json(200, {"active": good, "username": USER if good else ""})
        if not self._logged_in():
            return self._json(401, {"code": 401, "message": "Unauthenticated"})
        return getattr(self, what, self.unknown)(request)

    def unknown(self, request: dict[str, Any]) -> None:
        self._json(404, {"code": 404, "message": "Not found"})

    def _logged_in(self) -> bool:
        basic = "Basic " + base64.b64encode(f"{USER}:{KEY}".encode()).decode()
        return self.headers.get("Authorization") in (f"Bearer {TOKEN}", basic)

    def DownloadDataFiles(self, request: dict[str, Any]) -> None:  # noqa: N802
        slug = request["competitionName"]
        if not (self.kaggle.folder / f"{slug}.zip").exists():
            return self._json(404, {"code": 404, "message": "Not found"})
        if slug not in self.kaggle.accepted:
            message = "You must accept this competition's rules before you'll be able to download files."
            return self._json(403, {"code": 403, "message": message})
        self.send_response(302)
        self.send_header("Location", f"http://localhost:{PORT}/storage/{slug}.zip?signature={time.time_ns()}")
        self.send_header("Content-Length", "0")
        self.end_headers()
        return None

    def DownloadLeaderboard(self, request: dict[str, Any]) -> None:  # noqa: N802
        content = self.kaggle.leaderboards.get(request["competitionName"])
        if content is None:
            return self._json(403, {"code": 403, "message": "No leaderboard for you"})
        return self._send(200, content, {"Content-Type": "application/zip"})

    def ListCompetitions(self, request: dict[str, Any]) -> None:  # noqa: N802
        slugs = sorted(self.kaggle.accepted)
        start = int(request.get("pageToken") or 0)
        page, rest = slugs[start : start + 2], slugs[start + 2 :]
        entries = [
            {"id": 1, "ref": f"https://www.kaggle.com/competitions/{slug}", "userHasEntered": True} for slug in page
        ]
        self._json(200, {"competitions": entries, "nextPageToken": str(start + 2) if rest else ""})

    def ListCompetitionPages(self, request: dict[str, Any]) -> None:  # noqa: N802
        if (pages := self.kaggle.pages.get(request["competitionName"])) is None:
            return self._json(404, {"code": 404, "message": "There is no such competition"})
        return self._json(200, {"pages": [{"name": name, "content": text} for name, text in pages.items()]})

    def GetCompetition(self, request: dict[str, Any]) -> None:  # noqa: N802
        self._json(200, {"id": 1, "ref": request["competitionName"], "deadline": "2019-07-08T23:59:00Z"})

    def ListKernels(self, request: dict[str, Any]) -> None:  # noqa: N802
        listed = self.kaggle.notebooks[request["competition"]]
        if request.get("language", "all") != "all":
            listed = [each for each in listed if each.language == request["language"]]
        if request.get("sortBy") == "VOTE_COUNT":
            listed = sorted(listed, key=lambda each: -each.votes)
        size = request["pageSize"]
        start = size * (request.get("page", 1) - 1)
        self._json(200, {"kernels": [each.described() for each in listed[start : start + size]]})

    def GetKernel(self, request: dict[str, Any]) -> None:  # noqa: N802
        ref = f"{request['userName']}/{request['kernelSlug']}"
        found = next((each for all in self.kaggle.notebooks.values() for each in all if each.ref == ref), None)
        if found is None or found.gone:
            return self._json(404, {"code": 404, "message": "Not found"})
        about = found.described()
        blob = {name: about[name] for name in ("slug", "language", "kernelType")} | {"source": found.source}
        return self._json(200, {"metadata": about, "blob": blob})

    def do_GET(self) -> None:
        slug = re.match(r"/storage/(.*)\.zip", self.path)[1]  # type: ignore[index]
        span = self.headers.get("Range", "")
        with self.kaggle.lock:
            fault = self._next_fault("storage", slug, span)
        if fault and fault.status:
            return self._send(fault.status, b"", fault.headers)
        path = self.kaggle.folder / f"{slug}.zip"
        content, etag = path.read_bytes(), f'"{self.kaggle.md5(slug)}"'
        headers = {"ETag": etag, "Accept-Ranges": "bytes", "Content-Type": "application/zip"}
        status, start = 200, 0
        if span and self.headers.get("If-Range") in (None, etag):
            start = int(span.removeprefix("bytes=").rstrip("-"))
            if start >= len(content):
                return self._send(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            status = 206
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        return self._send(status, content[start:], headers, fault, slug)

    def _next_fault(self, what: str, slug: str, span: str = "") -> Fault | None:
        self.kaggle.requests.append((what, slug, span))
        queue = self.kaggle.faults[what]
        return queue.pop(0) if queue else None

    def _faulty(self, what: str, slug: str) -> bool:
        with self.kaggle.lock:
            fault = self._next_fault(what, slug)
        if fault is None:
            return False
        if fault.stall:
            time.sleep(fault.stall)
            return False
        if fault.drop_after >= 0:
            self.close_connection = True
            return True
        self._json(fault.status, {"code": fault.status, "message": "made to fail"}, fault.headers)
        return True

    def _json(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _send(
        self, status: int, content: bytes, headers: dict[str, str], fault: Fault | None = None, slug: str = ""
    ) -> None:
        sent = self.kaggle.sent  # what this answer still sends after a test has begun a new count belongs to the old
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if fault is not None and fault.drop_after >= 0:
            content = content[: fault.drop_after]
            self.close_connection = True
        for start in range(0, len(content), 1 << 16):
            piece = content[start : start + (1 << 16)]
            try:
                self.wfile.write(piece)
            except OSError:  # whoever asked is gone
                self.close_connection = True
                return
            sent[slug] += len(piece)
            if slug:
                self.kaggle.begun.set()
                self.kaggle.sending.wait()
            if self.kaggle.pace:
                time.sleep(self.kaggle.pace)
        if fault is not None and fault.stall:
            time.sleep(fault.stall)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


def serve(kaggle: FakeKaggle, patience: float = 900.0) -> Server:
    """Start it in a thread; waits while another test process has the port."""
    handler = type("Bound", (Handler,), {"kaggle": kaggle})
    end = time.monotonic() + patience
    while True:
        try:
            server = Server(("127.0.0.1", PORT), handler)
            break
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    return server
