"""A package index of the test's own: takes uploads and serves them, on this machine only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Index(ThreadingHTTPServer):
    """``files``: what was uploaded, by name."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Index

    def do_POST(self) -> None:
        """An upload: a form with the file in the field `content`."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        boundary = self.headers["Content-Type"].partition("boundary=")[2].strip('"').encode()
        for part in body.split(b"--" + boundary):
            head, _, content = part.partition(b"\r\n\r\n")
            if match := re.search(rb'name="content"; filename="([^"]+)"', head):
                self.server.files[match[1].decode()] = content.removesuffix(b"\r\n")
        self._answer(b"")

    def do_GET(self) -> None:
        if match := re.fullmatch(r"/simple/([a-z0-9-]+)/", self.path):
            prefix = match[1].replace("-", "_") + "-"
            names = [name for name in self.server.files if name.startswith(prefix)]
            links = "".join(f'<a href="/files/{name}">{name}</a>' for name in names)
            self._answer(f"<!DOCTYPE html><html><body>{links}</body></html>".encode(), found=bool(names))
        else:
            name = self.path.rpartition("/")[2]
            self._answer(self.server.files.get(name, b""), found=name in self.server.files)

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def _answer(self, content: bytes, found: bool = True) -> None:
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html" if content.startswith(b"<!") else "application/octet-stream")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *words: object) -> None:
        """Quiet."""


@contextmanager
def index() -> Iterator[Index]:
    server = Index()
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
