"""What requests and answers take in memory, and what clients and endpoints send that is unusual."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading

import pytest

from mlecore_gateway import server
from mlecore_gateway.memory import Memory
from mlecore_gateway.reading import Unreadable, decoder
from mlecore_testing.models import Answer

from .conftest import BODY, KEY, post, raw

PLAIN = json.dumps({"model": "m", "usage": {"prompt_tokens": 5, "completion_tokens": 6}}).encode()


def test_requests_of_more_than_32_mb(gateway):
    front = gateway()
    assert front.ask(body=b" " * (31 << 20) + BODY)[0] == 200
    assert b" 413 " in raw(front, post(length=(32 << 20) + 1)), "by its own word, before it is sent"
    assert front.model.served.calls == 1


def test_requests_wait_for_room(gateway, monkeypatch):
    """None is lost, none is rejected."""
    monkeypatch.setattr(server, "BODY", 1 << 20)
    monkeypatch.setattr(server, "BODIES", 1 << 20)
    front = gateway(Answer(text="x", delay=0.1, times=0))
    body = {"model": "scripted", "messages": [{"role": "user", "content": "x" * 700_000}]}
    statuses = []
    asking = [threading.Thread(target=lambda: statuses.append(front.ask(body=body)[0])) for _ in range(4)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert statuses == [200] * 4 and front.model.served.most_at_once == 1


def test_room_is_given_in_turn():
    async def play():
        memory, order = Memory(10), []

        async def one(size):
            await memory.take(size)
            order.append(size)

        await one(8)
        waiting = [asyncio.create_task(one(size)) for size in (9, 1)]
        await asyncio.sleep(0)
        assert order == [8] and memory.try_take(2) and not memory.try_take(1)
        memory.give_back(2)
        memory.give_back(8)
        await asyncio.gather(*waiting)
        assert order == [8, 9, 1]

    asyncio.run(play())


def test_expect_100_continue(gateway):
    front = gateway()
    with socket.create_connection(("127.0.0.1", front.port), timeout=60) as link:
        link.sendall(post(body=b"", extra=b"Expect: 100-continue\r\n", length=len(BODY)))
        assert link.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        link.sendall(BODY)
        assert link.recv(1000).startswith(b"HTTP/1.1 200")
    refused = raw(front, post(path=b"/v1/files", body=b"", extra=b"Expect: 100-continue\r\n", length=10))
    assert refused.startswith(b"HTTP/1.1 403"), "what is rejected anyway need not be sent"
    assert raw(front, post(extra=b"Expect: a-miracle\r\n")).startswith(b"HTTP/1.1 417")


def test_upgrade_to_http2_is_ignored(gateway):
    front = gateway()
    extra = b"Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
    assert raw(front, post(extra=extra)).startswith(b"HTTP/1.1 200")
    assert not {"Upgrade", "HTTP2-Settings"} & set(front.model.served.requests[0]["headers"])
    assert raw(front, post(extra=b"Connection: Upgrade\r\nUpgrade: websocket\r\n")).startswith(b"HTTP/1.1 501")


def test_gzip_of_several_members(front_of, reply):
    """The usage is in the second one."""
    packed = gzip.compress(PLAIN[:20]) + gzip.compress(PLAIN[20:])
    with front_of(lambda handler, _: reply(handler, packed, Content_Encoding="gzip")) as front:
        assert front.ask(Accept_Encoding="gzip")[2] == packed
        assert front.calls()[0].tokens.output == 6


@pytest.mark.parametrize(
    "hidden",
    [gzip.compress(KEY.encode(), mtime=0), KEY.encode(), b"\x1f" + KEY.encode()],
    ids=["another member", "as it is", "half a signature"],
)
def test_key_behind_the_first_member(front_of, reply, hidden):
    packed = gzip.compress(PLAIN) + hidden
    with front_of(lambda handler, _: reply(handler, packed, Content_Encoding="gzip")) as front:
        with pytest.raises(Exception):  # noqa: B017 - whatever the client makes of a cut answer
            front.ask(Accept_Encoding="gzip")
        (call,) = front.calls()
    assert call.outcome == "cut" and call.reason == "the endpoint sent the key back; it was masked"


@pytest.mark.parametrize("size", [1, 100_000])
def test_gzip_in_pieces(size):
    text = [b"a" * 300_000, b"", b"b" * 70_000]
    packed = b"".join(map(gzip.compress, text)) + b"\0\0\0"
    decode = decoder("gzip")
    out = b"".join(part for at in range(0, len(packed), size) for part in decode(packed[at : at + size]))
    assert out == b"".join(text) + b"\0\0\0"
    with pytest.raises(Unreadable):
        list(decoder("gzip")(b"no gzip"))


def test_key_in_the_status_line_and_in_names_of_headers(gateway, tmp_path):
    reply = (
        f"HTTP/1.1 200 well {KEY} done\r\nX-{KEY}: a\r\nx-{KEY.upper()}: b\r\nContent-Length: 2\r\n"
        "Content-Type: application/json\r\nConnection: close\r\n\r\n{}"
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer():
            link, _ = listening.accept()
            link.recv(65536)
            link.sendall(reply.encode())
            link.close()

        thread = threading.Thread(target=answer)
        thread.start()
        front = gateway(endpoint=f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
        got = raw(front, post(extra=b"Connection: close\r\n"))
        thread.join()
    assert got.startswith(b"HTTP/1.1 200 well ****") and KEY.lower().encode() not in got.lower()
    assert front.calls()[0].reason == "the endpoint sent the key back; it was masked"
