"""A gateway in front of a scripted model, both in threads of the test's process."""

from __future__ import annotations

import asyncio
import http.client
import http.server
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from mlecore_gateway.calls import Call
from mlecore_gateway.ledger import LOG, read_calls
from mlecore_gateway.server import serving
from mlecore_gateway.settings import Settings
from mlecore_testing import http_server
from mlecore_testing.http_server import Handler
from mlecore_testing.models import Answer, Model, Script, scripted_model

KEY = "sk-real-0123456789abcdef"
TOKEN = "mlecore-run-token"
CHAT = {"model": "scripted", "messages": [{"role": "user", "content": "hello"}]}
BODY = json.dumps(CHAT).encode()


def post(path=b"/v1/chat/completions", body=BODY, extra=b"", length=None) -> bytes:
    """A request as bytes; ``length``: a number, or what stands behind ``Content-Length``; with b"" there is none."""
    if not isinstance(length, bytes):
        length = b": %d" % (len(body) if length is None else length)
    head = b"POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s" % (path, TOKEN.encode(), extra)
    return head + (b"Content-Length%s\r\n" % length if length else b"") + b"\r\n" + body


def raw(front: Front, *pieces: bytes, wait: float = 60.0) -> bytes:
    """All that comes back for these bytes, until the gateway closes the connection or ``wait`` seconds pass."""
    with socket.create_connection(("127.0.0.1", front.port), timeout=wait) as link:
        out = b""
        try:
            for piece in pieces:
                link.sendall(piece)
            while more := link.recv(65536):
                out += more
        except (TimeoutError, ConnectionError):
            pass
        return out


class Front:
    """A running gateway and what it wrote."""

    def __init__(self, port: int, folder: Path, model: Model) -> None:
        self.port = port
        self.folder = folder
        self.model = model
        self.url = f"http://127.0.0.1:{port}"

    def ask(self, path="/v1/chat/completions", body=CHAT, method=None, token=TOKEN, seconds=120, **headers):
        """(status, headers, body) of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        packed = body if isinstance(body, bytes) or body is None else json.dumps(body)
        given = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        method = method or ("GET" if body is None else "POST")
        connection.request(method, path, packed, {name: value for name, value in given.items() if value is not None})
        answer = connection.getresponse()
        out = answer.status, answer.headers, answer.read()
        connection.close()
        return out

    def calls(self) -> list[Call]:
        """Of the log, once no call is under way: the last byte reaches the client before the line is written."""
        until = time.monotonic() + 60
        while True:
            calls = list(read_calls(self.folder / LOG, under_way=False))
            if len(calls) == len(list(read_calls(self.folder / LOG))) or time.monotonic() > until:
                return calls
            time.sleep(0.01)


@contextmanager
def running(settings: Settings, folder: Path) -> Iterator[int]:
    """The port of a gateway that serves while the block runs."""
    loop = asyncio.new_event_loop()
    ready, end = threading.Event(), asyncio.Event()
    at: list[str] = []

    async def serve() -> None:
        async with serving(settings, folder, "127.0.0.1:0") as address:
            at.append(address)
            ready.set()
            await end.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield int(at[0].rpartition(":")[2])
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join(60)
        loop.close()


@pytest.fixture
def gateway(tmp_path):
    """Call it with answers and settings; everything ends with the test."""
    with ExitStack() as stack:

        def start(*answers: Answer, script: Script | None = None, folder: Path = tmp_path, **settings) -> Front:
            script = script or Script(answers=answers or (Answer(text="hello there"),), key=KEY)
            model = stack.enter_context(scripted_model(script))
            given = {"endpoint": model.url, "token": TOKEN, "key": KEY, "models": ("scripted",), **settings}
            port = stack.enter_context(running(Settings(**given), folder))
            return Front(port, folder, model)

        yield start


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """One gateway for all requests of a file that it must reject, whatever their model."""
    folder = tmp_path_factory.mktemp("closed")
    with scripted_model(Script(key=KEY)) as model:
        settings = {"token": TOKEN, "key": KEY, "models": ("scripted",), "allow": ("POST /v1/images/*",)}
        with running(Settings(endpoint=model.url, **settings), folder) as port:
            yield Front(port, folder, model)


@contextmanager
def endpoint(answer, host: str = "127.0.0.1", context: ssl.SSLContext | None = None):
    """A server whose every answer is what ``answer(handler, body)`` writes; over TLS with a ``context``."""

    class Endpoint(Handler):
        protocol_version = "HTTP/1.1"

        def handle_one(self):
            answer(self, self.body())

        do_GET = do_POST = do_PUT = do_DELETE = handle_one  # noqa: N815

    server = http.server.ThreadingHTTPServer((host, 0), Endpoint)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    with http_server.serving(server):
        yield f"{'https' if context else 'http'}://{host}:{server.server_address[1]}"


@pytest.fixture(scope="session")
def endpoint_of():
    return endpoint


@pytest.fixture
def reply():
    return write_reply


def write_reply(handler, body: bytes, status=200, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    handler.answer(status, body, {"Content-Type": "application/json", **named})


@pytest.fixture
def front_of(tmp_path):
    """A gateway before an endpoint of the test's own, whose answers ``answer(handler, body)`` writes."""

    @contextmanager
    def start(answer, path="/v1", **settings):
        with endpoint(answer) as url:
            given = {"endpoint": url + path, "token": TOKEN, "key": KEY, "models": ("scripted",), **settings}
            with running(Settings(**given), tmp_path) as port:
                yield Front(port, tmp_path, None)

    return start
