"""A package index that asks for a password, for tests of what installs packages."""

from __future__ import annotations

import base64
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = "mlecore-probe"  # of its only package
MODULE = "mlecore_probe"
_WHEEL = f"{MODULE}-1.0-py3-none-any.whl"


@contextmanager
def package_index(password: str, host: str = "127.0.0.1") -> Iterator[str]:
    """Its address, with the password, while it serves."""
    content = wheel()
    page = f'<a href="/{_WHEEL}#sha256={hashlib.sha256(content).hexdigest()}">{_WHEEL}</a>'.encode()
    wanted = "Basic " + base64.b64encode(f"user:{password}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = {f"/simple/{NAME}/": (page, "text/html"), f"/{_WHEEL}": (content, "application/octet-stream")}
            body, kind = answer.get(self.path, (b"", "text/plain"))
            allowed = self.headers.get("Authorization") == wanted
            self.send_response(401 if not allowed else 200 if body else 404)
            self.send_header("WWW-Authenticate", "Basic")
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body) if allowed else 0))
            self.end_headers()
            if allowed and self.command == "GET":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((host, 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://user:{password}@{host}:{server.server_address[1]}/simple"
        finally:
            server.shutdown()


def wheel() -> bytes:
    """The one package that it has; always the same bytes."""
    out, info = io.BytesIO(), f"{MODULE}-1.0.dist-info"
    texts = {
        f"{MODULE}.py": "VALUE = 'from the index'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(name), text)
        record = "".join(f"{name},,\n" for name in [*texts, f"{info}/RECORD"])
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), record)
    return out.getvalue()
