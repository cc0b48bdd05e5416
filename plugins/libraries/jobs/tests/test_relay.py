"""The relay lets through what is listed and nothing else; real sockets, loopback only."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mlecore_jobs import relay as relay_module
from mlecore_jobs.relay import Log, Pattern, relay, vet


@pytest.mark.parametrize(
    ("pattern", "host", "port", "match"),
    [
        ("api.example.com", "api.example.com", 443, True),
        ("api.example.com", "api.example.com", 80, True),
        ("api.example.com", "api.example.com", 22, False),
        ("API.Example.com:8443", "api.example.com", 8443, True),
        ("api.example.com:8443", "api.example.com", 443, False),
        ("*.example.com", "a.b.example.com", 443, True),
        ("*.example.com", "example.com", 443, False),
        ("*.example.com", "evilexample.com", 443, False),
        ("example.com", "api.example.com", 443, False),
        ("10.0.0.5:8000", "10.0.0.5", 8000, True),
        ("10.0.0.5:8000", "::ffff:10.0.0.5", 8000, True),
        ("10.0.0.5:8000", "10.0.0.6", 8000, False),
        ("[2001:db8::1]:443", "2001:db8:0::1", 443, True),
    ],
)
def test_a_pattern_names_hosts_and_ports(pattern: str, host: str, port: int, match: bool) -> None:
    assert Pattern(pattern).names(host, port) is match


@pytest.mark.parametrize(
    "text", ["", "*", "*.", "http://x", "a b", "x:0", "x:99999", "x:http", "*.1", "127.1", "a/b", "-x"]
)
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Pattern(text)


@pytest.mark.parametrize(
    ("allow", "host", "address", "reachable"),
    [
        (["api.example.com"], "api.example.com", "93.184.216.34", True),
        (["api.example.com"], "api.example.com", "10.0.0.5", False),  # rebound
        (["api.example.com"], "api.example.com", "127.0.0.1", False),
        (["api.example.com"], "api.example.com", "169.254.169.254", False),
        (["api.example.com"], "api.example.com", "::ffff:10.0.0.5", False),
        (["api.example.com"], "api.example.com", "2002:a00:5::", False),
        (["api.example.com"], "api.example.com", "64:ff9b::a9fe:a9fe", False),
        (["api.example.com"], "api.example.com", "100.64.0.1", False),
        (["api.example.com"], "api.example.com", "fd00::1", False),
        (["api.example.com", "10.0.0.5"], "api.example.com", "10.0.0.5", True),
        (["api.example.com", "10.0.0.5:8000"], "api.example.com", "10.0.0.5", False),
        (["*.internal"], "a.internal", "10.0.0.5", False),  # a wildcard names no host
        (["a.internal"], "a.internal", "10.0.0.5", True),
        (["a.internal"], "a.internal", "169.254.169.254", False),
        (["vllm"], "vllm", "172.18.0.2", True),
        (["localhost"], "localhost", "127.0.0.1", True),
        (["169.254.169.254"], "169.254.169.254", "169.254.169.254", True),
    ],
)
def test_a_name_leads_only_where_it_may(allow: list[str], host: str, address: str, reachable: bool) -> None:
    assert vet([Pattern(text) for text in allow], host, 443)(address) is reachable


class Relayed:
    """A relay in its own thread, with its log."""

    def __init__(self, listen: str, allow: list[str], **options: Any) -> None:
        self.out = io.StringIO()
        self.where: Any = None
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()

        def listening(address: Any) -> None:
            self.where = address
            ready.set()

        async def main() -> None:
            patterns = [Pattern(text) for text in allow]
            self.task = asyncio.ensure_future(relay(listen, patterns, Log(self.out), ready=listening, **options))
            await asyncio.wait([self.task])

        self.thread = threading.Thread(target=lambda: self.loop.run_until_complete(main()), daemon=True)
        self.thread.start()
        assert ready.wait(60)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.task.cancel)
        self.thread.join(60)

    def log(self, lines: int) -> list[dict[str, Any]]:
        for _ in range(6000):
            found = [json.loads(line) for line in self.out.getvalue().splitlines()]
            if len(found) >= lines:
                return found
            time.sleep(0.01)
        raise AssertionError(f"{lines} lines expected: {self.out.getvalue()}")


@pytest.fixture
def start() -> Iterator[Callable[..., Relayed]]:
    started: list[Relayed] = []

    def go(*allow: str, listen: str = "127.0.0.1:0", **options: Any) -> Relayed:
        started.append(Relayed(listen, list(allow), **options))
        return started[-1]

    yield go
    for each in started:
        each.stop()


@pytest.fixture
def server() -> Iterator[int]:
    """Answers one line of what it got, for each connection; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                got = client.recv(65536)
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n<" + got + b">")
                with contextlib.suppress(OSError):  # what is left unread would reset the connection, answer and all
                    client.shutdown(socket.SHUT_WR)
                    client.settimeout(1)
                    while client.recv(65536):
                        continue

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def connect(where: Any) -> socket.socket:
    client = socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET)
    client.settimeout(60)
    client.connect(where)
    return client


def ask(where: Any, request: str) -> str:
    with connect(where) as client:
        client.sendall(request.encode())
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b"")).decode()


def test_connect_tunnels_to_a_listed_host_and_is_logged(start: Callable[..., Relayed], server: int) -> None:
    up = start(f"localhost:{server}")
    with connect(up.where) as client:
        client.sendall(f"CONNECT localhost:{server} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert client.recv(100).startswith(b"HTTP/1.1 200 ")
        client.sendall(b"ping")
        assert client.recv(100).endswith(b"<ping>")
    [line] = up.log(1)
    assert (line["host"], line["port"], line["verdict"]) == ("localhost", server, "allowed")
    assert (line["sent"], line["received"]) == (4, len("HTTP/1.1 200 OK\r\n\r\n<ping>"))


def test_plain_http_is_rewritten_for_the_server(start: Callable[..., Relayed], server: int) -> None:
    up = start(f"127.0.0.1:{server}")
    answer = ask(
        up.where,
        f"POST http://127.0.0.1:{server}/v1/x?y=1 HTTP/1.1\r\nHost: elsewhere.example.com\r\nX-Key: k\r\n"
        "Proxy-Authorization: secret\r\nContent-Length: 4\r\n\r\nbody",
    )
    assert f"<POST /v1/x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:{server}\r\nConnection: close\r\nX-Key: k" in answer
    assert "secret" not in answer and "elsewhere" not in answer


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("CONNECT other.example.com:443", "403"),
        ("CONNECT api.example.com:22", "403"),
        ("CONNECT 127.0.0.1:443", "403"),
        ("CONNECT 2130706433:443", "403"),
        ("CONNECT [::1]:443", "403"),
        ("CONNECT 169.254.169.254:80", "403"),
        ("GET http://169.254.169.254/latest/meta-data", "403"),
        ("GET http://127.1/", "403"),
        ("GET http://api.example.com@evil.example.com/", "400"),
        ("GET ftp://api.example.com/", "400"),
        ("GET /", "400"),
        ("CONNECT api.example.com", "400"),
        ("CONNECT api.example.com:0", "400"),
        ("CONNECT api.exa\tmple.com:443", "400"),
    ],
)
def test_everything_else_is_refused(start: Callable[..., Relayed], request_line: str, status: str) -> None:
    up = start("api.example.com")
    assert ask(up.where, f"{request_line} HTTP/1.1\r\n\r\n").startswith(f"HTTP/1.1 {status} ")
    [line] = up.log(1)
    assert line["verdict"].split(":")[0] == {"403": "refused", "400": "bad request"}[status]


def test_a_name_rebound_to_a_private_address_is_refused(
    start: Callable[..., Relayed], server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *a, **k: real("127.0.0.1" if host == "api.example.com" else host, *a, **k)
    )
    up = start(f"api.example.com:{server}")
    answer = ask(up.where, f"CONNECT api.example.com:{server} HTTP/1.1\r\n\r\n")
    assert answer.startswith("HTTP/1.1 403") and "no public address" in answer


def test_a_server_that_does_not_answer_is_a_failure_not_a_refusal(start: Callable[..., Relayed]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    up = start(f"127.0.0.1:{port}")
    assert ask(up.where, f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 502")
    assert up.log(1)[0]["verdict"].startswith("failed: ")


def test_headers_are_bounded(start: Callable[..., Relayed]) -> None:
    up = start("api.example.com")
    with connect(up.where) as client:
        client.sendall(b"GET http://api.example.com/ HTTP/1.1\r\n" + b"x" * (2 * relay_module.HEADER_BYTES))
        assert client.recv(100).startswith(b"HTTP/1.1 400")


def test_connections_are_bounded(start: Callable[..., Relayed], server: int) -> None:
    up = start(f"127.0.0.1:{server}", connections=1)
    with connect(up.where) as first:
        first.sendall(f"CONNECT 127.0.0.1:{server} HTTP/1.1\r\n\r\n".encode())
        assert first.recv(100).startswith(b"HTTP/1.1 200")
        with connect(up.where) as second:
            assert second.recv(100).startswith(b"HTTP/1.1 503")
    up.log(1)
    assert ask(up.where, "CONNECT x.example.com:443 HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 403")


def test_silent_clients_do_not_block_others(start: Callable[..., Relayed], server: int) -> None:
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = other.getsockname()[1]
        up = start(f"127.0.0.1:{server}", f"127.0.0.1:{port}", connections=3)
        tunnel = stack.enter_context(connect(up.where))
        tunnel.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        assert tunnel.recv(100).startswith(b"HTTP/1.1 200")
        end = stack.enter_context(other.accept()[0])
        for part in (b"", b"CONN", b"") * 3:
            stack.enter_context(connect(up.where)).sendall(part)
        answer = ask(up.where, f"GET http://127.0.0.1:{server}/ HTTP/1.1\r\n\r\n")
        assert "<GET / HTTP/1.1" in answer
        tunnel.sendall(b"still there")
        assert end.recv(100) == b"still there"  # what was answered stays
    assert "no request, cut off" in [line["verdict"] for line in up.log(8)]


def test_an_idle_tunnel_ends(start: Callable[..., Relayed], server: int) -> None:
    up = start(f"127.0.0.1:{server}", idle=0.2)
    with connect(up.where) as client:
        client.sendall(f"CONNECT 127.0.0.1:{server} HTTP/1.1\r\n\r\n".encode())
        assert client.recv(100).startswith(b"HTTP/1.1 200")
        assert client.recv(100) == b""
    assert "idle" in up.log(1)[0]["verdict"]


def test_the_log_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "LOG_BYTES", 200)
    out = io.StringIO()
    log = Log(out)
    for _ in range(50):
        log.write(host="x" * 20, verdict="refused")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert len(lines) < 6 and lines[-1]["verdict"] == "the log is full"


def test_as_a_script_behind_a_unix_socket_with_a_forwarder(tmp_path: Path, server: int) -> None:
    """As vm uses it: the relay outside on a socket, the forwarder inside on loopback; SIGTERM logs what is open."""
    script, socket_path, log = relay_module.__file__, tmp_path / "relay.sock", tmp_path / "relay.jsonl"
    command = [sys.executable, "-I", "-S", script, "--listen"]
    outer = subprocess.Popen(
        [*command, f"unix:{socket_path}", "--allow", f"127.0.0.1:{server}", "--log", str(log)], stderr=subprocess.PIPE
    )
    inner = subprocess.Popen([*command, "127.0.0.1:0", "--to", str(socket_path)], stderr=subprocess.PIPE)
    try:
        assert outer.stderr is not None and inner.stderr is not None
        outer.stderr.readline()
        port = int(inner.stderr.readline().decode().rpartition(", ")[2].rstrip(")\n"))
        assert "<GET / HTTP/1.1" in ask(("127.0.0.1", port), f"GET http://127.0.0.1:{server}/ HTTP/1.1\r\n\r\n")
        with connect(("127.0.0.1", port)) as client:
            client.sendall(f"CONNECT 127.0.0.1:{server} HTTP/1.1\r\n\r\n".encode())
            assert client.recv(100).startswith(b"HTTP/1.1 200")
            outer.send_signal(signal.SIGTERM)
            assert outer.wait(60) == 0
    finally:
        for process in (outer, inner):
            process.kill()
            process.wait()
            process.stderr.close()  # type: ignore[union-attr]
    verdicts = [json.loads(line)["verdict"] for line in log.read_text().splitlines()]
    assert verdicts == ["allowed", "allowed, cut off"]


def test_the_file_parses_as_python_3_8() -> None:
    ast.parse(Path(relay_module.__file__).read_text(encoding="utf-8"), feature_version=(3, 8))
