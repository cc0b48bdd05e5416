"""How much later an answer comes through the gateway, and what the gateway takes for itself.

    python benchmarks/gateway.py [--calls 400] [--streams 200] [--seconds 10]

One client speaks to one endpoint, with the gateway between them and without, in turns. First calls one after the other;
then that many streams at once, each of 20 pieces a second, begun over the first seconds so that all of them are under
way together; last, eight requests of 31 MB at once, with others between them. Endpoint, gateway and client are
separate processes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from _measure import scratch

TOKEN = "benchmark"
PIECE = b'data: {"model":"m","choices":[{"index":0,"delta":{"content":"some words"}}]}\n\n'
REPORT = b'data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100}}\n\ndata: [DONE]\n\n'
WHOLE = b'{"model":"m","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100}}'
EVERY = 0.05  # seconds between pieces


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The endpoint: as little as can be, so that what is measured is not it."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
            asked = await reader.readexactly(length)
            if b'"stream":true' not in asked[:200]:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(WHOLE), WHOLE))
                continue
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(int(asked.partition(b'"pieces":')[2].split(b",")[0])):
                writer.write(b"%x\r\n%s\r\n" % (len(PIECE), PIECE))
                await asyncio.sleep(EVERY)
            writer.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(REPORT), REPORT))
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def endpoint() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 20, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def request(body: bytes) -> bytes:
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def calls(port: int, count: int, body: bytes) -> list[float]:
    """Seconds to the first byte, one call after the other on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        writer.write(request(body))
        first = await reader.read(1)
        taken.append(time.perf_counter() - began)
        first += await reader.readuntil(b"\r\n\r\n")
        length = int(first.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        await reader.readexactly(length)
    writer.close()
    return taken


async def stream(port: int, seconds: float, delay: float) -> float:
    body = b'{"model":"m","stream":true,"stream_options":{"include_usage":true},"pieces":%d,"messages":[]}'
    await asyncio.sleep(delay)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.perf_counter()
    writer.write(request(body % int(seconds / EVERY)))
    await reader.readuntil(b"data:")
    taken = time.perf_counter() - began
    await reader.readuntil(b"[DONE]")
    writer.close()
    return taken


async def streams(port: int, count: int, seconds: float) -> list[float]:
    """Seconds to the first piece of each; they begin over the first 40 % of the time."""
    begun = (stream(port, seconds, 0.4 * seconds * number / count) for number in range(count))
    return list(await asyncio.gather(*begun))


def memory(pid: int) -> float:
    """MB that a process holds now."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def processor(pid: int) -> float:
    """Seconds of CPU that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def show(what: str, direct: list[float], through: list[float]) -> None:
    def words(taken: list[float]) -> str:
        ordered = sorted(taken)
        return f"{1000 * statistics.median(ordered):7.2f} {1000 * ordered[int(0.95 * len(ordered))]:7.2f}"

    later = 1000 * (statistics.median(through) - statistics.median(direct))
    print(f"{what:28} {words(direct)}   {words(through)}   {later:+7.2f}")


def measure(options: argparse.Namespace, upstream: int, port: int, gateway: int) -> None:
    small = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 4000}]}).encode()
    print(f"{'ms to the first byte':28} {'directly':>15}   {'by the gateway':>15}   later")
    print(f"{'':28} {'median':>7} {'95 %':>7}   {'median':>7} {'95 %':>7}   {'median':>7}")
    direct, through = [], []
    for _ in range(4):
        direct += asyncio.run(calls(upstream, options.calls // 4, small))
        through += asyncio.run(calls(port, options.calls // 4, small))
    show(f"{options.calls} calls in turn", direct, through)
    idle = memory(gateway)
    direct = asyncio.run(streams(upstream, options.streams, options.seconds))
    held = []
    for _ in range(2):
        cpu, began = processor(gateway), time.monotonic()
        through = asyncio.run(streams(port, options.streams, options.seconds))
        load = (processor(gateway) - cpu) / (time.monotonic() - began)
        held.append(memory(gateway))
        show(f"{options.streams} streams at once", direct, through)
    print(
        f"gateway: {idle:.0f} MB before, {held[0]:.0f} MB and {held[1]:.0f} MB after the streams; {load:.0%} of a core"
    )
    large = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 31_000_000}]}).encode()
    show("a request of 31 MB", asyncio.run(calls(upstream, 3, large)), asyncio.run(calls(port, 3, large)))
    peak, alone, between = at_once(port, large, gateway)
    print(
        f"eight of them at once: at most {peak:.0f} MB; others wait {1000 * statistics.median(between):.1f} ms for an"
        f" answer in the meantime, at most {1000 * max(between):.0f} ms (before: at most {1000 * max(alone):.0f} ms)"
    )


def at_once(port: int, large: bytes, gateway: int) -> tuple[float, list[float], list[float]]:
    """MB of the gateway at most, and seconds that it takes to reject a call before eight large ones and beside them."""
    alone, between, peak = [rejected(port) for _ in range(200)], [], 0.0
    threads = [threading.Thread(target=send, args=(port, large)) for _ in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        between.append(rejected(port))
        peak = max(peak, memory(gateway))
    return peak, alone, between


def rejected(port: int) -> float:
    """Nothing but the gateway takes part."""
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        link.recv(1)
    return time.perf_counter() - began


def send(port: int, body: bytes) -> None:
    """One call."""
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.sendall(request(body))
        link.recv(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--endpoint", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.endpoint:
        asyncio.run(endpoint())
    with scratch() as folder:
        server = subprocess.Popen([sys.executable, __file__, "--endpoint"], stdout=subprocess.PIPE)
        argv = [sys.executable, "-m", "mlecore_gateway", "--listen", "127.0.0.1:0", "--folder", str(folder)]
        gateway = subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            assert server.stdout and gateway.stdin and gateway.stderr
            upstream = int(server.stdout.readline())
            settings = {"endpoint": f"http://127.0.0.1:{upstream}/v1", "token": TOKEN, "models": ["m"]}
            gateway.stdin.write(json.dumps(settings).encode())
            gateway.stdin.close()
            port = int(gateway.stderr.readline().rpartition(b":")[2])
            time.sleep(2)  # it reads its prices after it listens
            measure(options, upstream, port, gateway.pid)
        finally:
            for process in (server, gateway):
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
