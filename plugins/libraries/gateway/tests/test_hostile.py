"""What a hostile agent sends, and what an endpoint must not send back."""

from __future__ import annotations

import gzip
import json
import resource
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mlecore_gateway import ledger, server
from mlecore_gateway.masking import Mask
from mlecore_testing.models import Answer

from .conftest import CHAT, KEY, TOKEN, post, raw


def test_smuggled_request_is_not_passed(gateway):
    """What follows a refused request on its connection is not read as another one."""
    front = gateway()
    inner = post(body=json.dumps({**CHAT, "model": "other"}).encode())
    raw(front, post(path=b"/v2/x", body=inner, length=0) + inner, wait=0.5)
    assert front.model.served.calls == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"token": "another-runs-token"},
        {"token": ""},
        {"Authorization": None},
        {"Authorization": f"Basic {TOKEN}"},
        {"x_api_key": "another"},  # beside the right one
    ],
)
def test_wrong_token(gateway, headers):
    front = gateway()
    status, _, body = front.ask(**headers)
    assert status == 401 and b"not the token of this run" in body
    (call,) = front.calls()
    assert call.outcome == "refused" and front.model.served.calls == 0
    assert "another" not in (front.folder / "gateway.jsonl").read_text()


def test_a_field_named_twice_is_not_passed_on(gateway):
    """Whichever of the two a server would take: it sees the one that was checked."""
    front = gateway()
    assert front.ask(body=b'{"model": "other", "messages": [], "mod\\u0065l": "scripted"}')[0] == 200
    assert front.model.served.requests[0]["body"] == {"model": "scripted", "messages": []}


def test_any_model_is_allowed_and_listed(gateway):
    front = gateway(any_model=True)
    assert front.ask(body={**CHAT, "model": "other"})[0] == front.ask()[0] == 200
    assert [(call.asked, call.unplanned) for call in front.calls()] == [("other", True), ("scripted", False)]


def test_key_asked_back(gateway):
    front = gateway(Answer(echo=True, times=0))
    for stream in (False, True):
        status, _, body = front.ask(body={**CHAT, "stream": stream})
        assert status == 200 and KEY.encode() not in body
        assert b"*" * len(KEY) in body
    assert front.calls()[0].reason == "the endpoint sent the key back; it was masked"


def test_key_asked_back_otherwise(front_of, reply):
    """In a header, in an error, in a model's name, compressed."""

    def answer(handler, _):
        if "gzip" in handler.headers["Accept-Encoding"]:
            reply(handler, gzip.compress(KEY.encode()), Content_Encoding="gzip")
        else:
            reply(handler, json.dumps({"model": KEY}).encode(), 401, X_Echo=f"<{KEY}>")

    with front_of(answer) as front:
        status, headers, body = front.ask()
        assert status == 401 and KEY not in str(headers) + body.decode()
        with pytest.raises(Exception):  # noqa: B017 - whatever the client makes of a cut answer
            front.ask(Accept_Encoding="gzip")
        assert {call.number: call.outcome for call in front.calls()} == {1: "passed", 2: "cut"}
        assert KEY not in (front.folder / "gateway.jsonl").read_text()


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_mask_across_pieces(size):
    mask = Mask(KEY)
    text = f"a{KEY}b{KEY[:5]}{KEY}{KEY[:-1]}".encode()
    out = b"".join(mask.feed(text[start : start + size]) for start in range(0, len(text), size)) + mask.rest()
    assert out == text.replace(KEY.encode(), b"*" * len(KEY)) and mask.hits == 2


def test_huge_headers(gateway):
    front = gateway()
    raw(front, post(extra=b"X: " + b"a" * 200_000 + b"\r\n"))
    many = b"".join(b"X-%d: a\r\n" % number for number in range(5000))
    raw(front, post(extra=many))
    assert front.model.served.calls == 0
    assert front.ask()[0] == 200, "and others are served"


def test_huge_body(gateway, monkeypatch):
    monkeypatch.setattr(server, "BODY", 1 << 20)
    front = gateway()
    assert b" 413 " in raw(front, post(body=b"x" * (4 << 20)))
    bomb = gzip.compress(b"0" * (8 << 20))
    assert b" 413 " in raw(front, post(body=bomb, extra=b"Content-Encoding: gzip\r\n"))
    assert front.model.served.calls == 0 and front.ask()[0] == 200


def test_slow_body(gateway, monkeypatch):
    monkeypatch.setattr(server, "BODY_SECONDS", 0.2)
    front = gateway()
    assert b" 408 " in raw(front, post(length=1000))


def test_slow_reader_holds_nothing_for_ever(front_of, monkeypatch):
    """It does not read; the answer is counted all the same, and its place given back."""
    monkeypatch.setattr("mlecore_gateway.reply.STALL_SECONDS", 0.3)
    filler = b": " + b"x" * 65000 + b"\n\n"
    report = b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}\n\n'

    def answer(handler, _):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for _ in range(300):
            handler.wfile.write(filler)
        handler.wfile.write(report)
        handler.close_connection = True

    with front_of(answer) as front, socket.create_connection(("127.0.0.1", front.port)) as link:
        link.sendall(post(body=json.dumps({**CHAT, "stream": True}).encode()))
        deadline = time.monotonic() + 60
        while not (calls := front.calls()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert calls[0].reason == "the client did not read the answer" and calls[0].tokens.output == 4


def test_a_thousand_sockets_that_say_nothing(gateway, many_files):
    front = gateway()
    links = [socket.create_connection(("127.0.0.1", front.port)) for _ in range(1000)]
    assert front.ask()[0] == 200
    links[0].settimeout(60)
    assert links[0].recv(100) == b""  # the oldest made room
    for link in links:
        link.close()


def test_connections_at_work_are_not_cut_for_more(front_of, reply, monkeypatch):
    monkeypatch.setattr(server, "CONNECTIONS", 1)
    asked, go = threading.Event(), threading.Event()

    def answer(handler, _):
        asked.set()
        go.wait(60)
        reply(handler, b"{}")

    with front_of(answer) as front, ThreadPoolExecutor(1) as pool:
        first = pool.submit(front.ask)
        assert asked.wait(60)
        with socket.create_connection(("127.0.0.1", front.port), timeout=60) as second:
            assert second.recv(100).startswith(b"HTTP/1.1 503")
        go.set()
        assert first.result()[0] == 200


@pytest.fixture
def many_files():
    """Both ends of a thousand connections are this process's."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_refusals_do_not_fill_the_disk(gateway, monkeypatch):
    monkeypatch.setattr(ledger, "REFUSALS", 5)
    front = gateway()
    for _ in range(13):
        front.ask(token="wrong")
    assert [call.times for call in front.calls()] == [1, 1, 1, 1, 1, 5]


def test_log_has_an_end(gateway, monkeypatch):
    monkeypatch.setattr(ledger, "LOG_BYTES", 1000)
    front = gateway(Answer(text="x", times=0))
    statuses = [front.ask()[0] for _ in range(6)]
    assert statuses[0] == 200 and statuses[-1] == 429


def test_words_of_the_agent_in_the_log(gateway):
    front = gateway()
    front.ask("/v1/" + "x" * 3000, {"model": "a\u2028b\n" * 500})
    (call,) = front.calls()
    assert len(call.path) <= 200 and len(call.reason) <= 200 and "\n" not in call.reason
