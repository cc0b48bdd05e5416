"""The scripted model's server, in its own thread.

It answers probes (``mlecore_gateway.probe``) as it would answer the next call, and does not count them: tests of agents
need not know of them.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from .protocols import Chat, Messages, Reply, Responses, count, embeddings, split, words_of
from .script import Answer, Cursor, Script, Usage

if TYPE_CHECKING:
    from aiohttp import web

_PROTOCOLS: dict[str, type[Chat] | type[Responses] | type[Messages]] = {
    "/v1/chat/completions": Chat,
    "/v1/responses": Responses,
    "/v1/messages": Messages,
}
_COUNTING = "/v1/messages/count_tokens"
_REQUESTS = 1000


class Served(msgspec.Struct):
    """What the server counted: tokens of answers that reached their end; calls and statuses of all."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    cut: int = 0  # answers that the script broke off
    statuses: dict[int, int] = {}
    most_at_once: int = 0
    paths: dict[str, int] = {}
    requests: list[dict[str, Any]] = []  # path, headers and body (JSON) of the last requests
    probes: int = 0  # in no other number

    def add(self, usage: Usage) -> None:
        self.input += usage.input
        self.output += usage.output
        self.cached += usage.cached
        self.reasoning += usage.reasoning


class Model:
    """A running server. ``url`` ends in /v1; ``root`` is what Anthropic's clients want."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.served = Served()
        self.root = ""
        self._cursor = Cursor(script)
        self._at_once = 0

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        from aiohttp import web

        path = _api_path(request.path)
        if path == "/served":
            return web.Response(body=msgspec.json.encode(self.served), content_type="application/json")
        body = await self._read(request)
        if _is_probe(request):
            self.served.probes += 1
            return await self._answer(request, path, body)
        self.served.calls += 1
        self.served.paths[path] = self.served.paths.get(path, 0) + 1
        self.served.requests.append({"path": request.path_qs, "headers": dict(request.headers), "body": body})
        del self.served.requests[:-_REQUESTS]
        self._at_once += 1
        self.served.most_at_once = max(self.served.most_at_once, self._at_once)
        try:
            response = await self._answer(request, path, body)
        finally:
            self._at_once -= 1
        self.served.statuses[response.status] = self.served.statuses.get(response.status, 0) + 1
        return response

    async def _read(self, request: web.BaseRequest) -> Any:
        parts = [piece async for piece in request.content.iter_any()]
        try:
            return json.loads(b"".join(parts) or b"{}")
        except ValueError:
            return None

    async def _answer(self, request: web.BaseRequest, path: str, body: Any) -> web.StreamResponse:
        protocol = _PROTOCOLS.get(path, Messages if path == _COUNTING else Chat)
        if self.script.key is not None and not _has(request, self.script.key):
            return _json(401, protocol.error(401, "Incorrect API key provided.", "invalid_api_key"))
        if path == "/v1/models":
            listed = [
                {"id": name, "object": "model", "created": 0, "owned_by": "mlecore"} for name in self.script.models
            ]
            return _json(200, {"object": "list", "data": listed, "has_more": False})
        if not isinstance(body, dict):
            return _json(400, protocol.error(400, "The body is not a JSON object.", "invalid_request_error"))
        if path == "/v1/embeddings":
            tokens = count("".join(words_of(body.get("input"))))
            if not _is_probe(request):
                self.served.add(Usage(input=tokens, output=0))
            return _json(200, embeddings(body, str(body.get("model")), tokens))
        if path not in _PROTOCOLS and path != _COUNTING:
            return _json(404, protocol.error(404, f"There is no {path}.", "not_found"))
        speaker = protocol(body)
        texts = list(words_of(speaker.messages))
        tokens = count("".join(texts))
        if path == _COUNTING:
            return _json(200, {"input_tokens": tokens})
        return await self._speak(request, speaker, body, texts[-1] if texts else "", tokens)

    async def _speak(
        self,
        request: web.BaseRequest,
        speaker: Chat | Responses | Messages,
        body: Mapping[str, Any],
        last: str,
        tokens: int,
    ) -> web.StreamResponse:
        answer = self._cursor.peek(last) if _is_probe(request) else self._cursor.next(last)
        await asyncio.sleep(answer.delay)
        if answer.overflow or (self.script.context is not None and tokens > self.script.context):
            limit = self.script.context or tokens - 1
            message = f"prompt is too long: {tokens} tokens > {limit} maximum context length"
            return _json(400, speaker.error(400, message, "context_length_exceeded"))
        if answer.status != 200:
            response = _json(answer.status, speaker.error(answer.status, answer.text or "Scripted.", "scripted_error"))
            if answer.retry_after is not None:
                response.headers["Retry-After"] = f"{answer.retry_after:g}"
            return response
        text = json.dumps(dict(request.headers)) if answer.echo else answer.text
        output = count(text) + sum(count(tool.name + str(tool.arguments)) for tool in answer.tools)
        usage = answer.usage or Usage(input=tokens, output=output)
        reply = Reply(
            model=answer.model or str(body.get("model")),
            pieces=(text,) if answer.echo else split(text),
            tools=answer.tools,
            usage=usage if answer.reports_usage else None,
            server_tools=answer.server_tools,
        )
        if body.get("stream") is True:
            return await self._stream(request, speaker.events(reply), answer, usage)
        packed = json.dumps(speaker.whole(reply)).encode()
        if answer.malformed:
            packed = packed[:-1]
        if answer.cut_after is not None:
            self.served.cut += 1
            return await _half(request, packed)
        if not _is_probe(request):
            self.served.add(usage)
        return _json(200, packed)

    async def _stream(
        self, request: web.BaseRequest, events: Iterator[bytes], answer: Answer, usage: Usage
    ) -> web.StreamResponse:
        from aiohttp import web

        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        await response.prepare(request)
        try:
            for number, event in enumerate(events):
                if answer.cut_after is not None and number >= answer.cut_after:
                    self.served.cut += 1
                    _abort(request)
                    return response
                await response.write(event[:-3] if answer.malformed and number == 1 else event)
                if answer.pause:
                    await asyncio.sleep(answer.pause)
        except ConnectionError:  # the client has hung up; what was generated still counts
            self.served.add(usage)
            return response
        self.served.add(usage)
        await response.write_eof()
        return response


def _api_path(path: str) -> str:
    """Azure's paths are those of OpenAI behind a deployment."""
    parts = path.split("/")
    if parts[1:3] == ["openai", "deployments"] and len(parts) > 4:
        return "/v1/" + "/".join(parts[4:])
    return path


def _is_probe(request: web.BaseRequest) -> bool:
    from mlecore_gateway.probe import USER_AGENT

    return request.headers.get("User-Agent") == USER_AGENT


def _has(request: web.BaseRequest, key: str) -> bool:
    given = [request.headers.get(name) for name in ("x-api-key", "api-key", "x-goog-api-key")]
    bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return key in (*given, bearer, request.query.get("key"))


def _json(status: int, body: Any) -> web.Response:
    from aiohttp import web

    packed = body if isinstance(body, bytes) else json.dumps(body).encode()
    return web.Response(status=status, body=packed, content_type="application/json")


async def _half(request: web.BaseRequest, body: bytes) -> web.StreamResponse:
    from aiohttp import web

    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    _abort(request)
    return response


def _abort(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.close()


async def serve(model: Model, host: str, port: int) -> web.ServerRunner:
    """Listen; ``model.root`` says where."""
    from aiohttp import web

    runner = web.ServerRunner(web.Server(model.handle, access_log=None), shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, host, port, backlog=1024).start()
    model.root = f"http://{host}:{runner.addresses[0][1]}"
    return runner


@contextmanager
def scripted_model(script: Script | None = None, *, host: str = "127.0.0.1", port: int = 0) -> Iterator[Model]:
    """A model that answers while the block runs."""
    model = Model(script or Script())
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    failed: list[BaseException] = []

    def run() -> None:
        asyncio.set_event_loop(loop)
        try:
            runner = loop.run_until_complete(serve(model, host, port))
        except OSError as error:
            failed.append(error)
            return
        finally:
            ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())

    thread = threading.Thread(target=run, name="scripted model", daemon=True)
    thread.start()
    ready.wait()
    try:
        if failed:
            raise failed[0]
        yield model
    finally:
        if not failed:
            loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
