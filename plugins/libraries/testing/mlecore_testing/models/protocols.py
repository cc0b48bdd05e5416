"""How each protocol writes an answer: whole, as a stream's events, and as an error."""

from __future__ import annotations

import base64
import json
import struct
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from .script import Tool, Usage

Json = dict[str, Any]


@frozen(kw_only=True)
class Reply:
    """An answer with all that its protocol needs."""

    model: str
    pieces: tuple[str, ...]  # of its text
    tools: tuple[Tool, ...]
    usage: Usage | None
    server_tools: Mapping[str, int] = field(factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def count(text: str) -> int:
    """Tokens of a text: one for every four bytes, rounded up."""
    return -(-len(text.encode()) // 4)


def split(text: str) -> tuple[str, ...]:
    """Split into pieces of about a token."""
    return tuple(text[start : start + 4] for start in range(0, len(text), 4))


def words_of(value: object) -> Iterator[str]:
    """All text in the messages of a request, in any protocol."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in ("role", "type", "id"):
                yield from words_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words_of(inner)


def arguments(tool: Tool) -> str:
    return tool.arguments if isinstance(tool.arguments, str) else json.dumps(tool.arguments)


def _id(prefix: str) -> str:
    return f"{prefix}{uuid.uuid4().hex[:24]}"


def _event(data: Json, name: str | None = None) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


class Chat:
    """OpenAI's Chat Completions."""

    def __init__(self, request: Json) -> None:
        self.messages = request.get("messages")
        self._with_usage = (request.get("stream_options") or {}).get("include_usage") is True

    def whole(self, reply: Reply) -> Json:
        message: Json = {"role": "assistant", "content": reply.text or None}
        if reply.tools:
            message["tool_calls"] = [_chat_tool(tool) for tool in reply.tools]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _chat_reason(reply)}
        body = {"id": _id("chatcmpl-"), "object": "chat.completion", "created": 0, "model": reply.model}
        return {**body, "choices": [choice], **({"usage": _chat_usage(reply.usage)} if reply.usage else {})}

    def events(self, reply: Reply) -> Iterator[bytes]:
        head: Json = {"id": _id("chatcmpl-"), "object": "chat.completion.chunk", "created": 0, "model": reply.model}
        tail: Json = {"usage": None} if self._with_usage else {}

        def chunk(delta: Json, reason: str | None = None) -> bytes:
            return _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **tail})

        yield chunk({"role": "assistant", "content": ""})
        for piece in reply.pieces:
            yield chunk({"content": piece})
        for index, tool in enumerate(reply.tools):
            yield chunk({"tool_calls": [{"index": index, **_chat_tool(tool)}]})
        yield chunk({}, _chat_reason(reply))
        if self._with_usage and reply.usage:
            yield _event({**head, "choices": [], "usage": _chat_usage(reply.usage)})
        yield b"data: [DONE]\n\n"

    @staticmethod
    def error(status: int, message: str, kind: str) -> Json:
        return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


def _chat_tool(tool: Tool) -> Json:
    return {"id": _id("call_"), "type": "function", "function": {"name": tool.name, "arguments": arguments(tool)}}


def _chat_reason(reply: Reply) -> str:
    return "tool_calls" if reply.tools else "stop"


def _chat_usage(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


class Responses:
    """OpenAI's Responses."""

    def __init__(self, request: Json) -> None:
        self.messages = [request.get("instructions"), request.get("input")]

    def whole(self, reply: Reply) -> Json:
        return self._response(_id("resp_"), reply, "completed", self._items(reply), reply.usage)

    def events(self, reply: Reply) -> Iterator[bytes]:
        number = 0

        def event(kind: str, **fields: Any) -> bytes:
            nonlocal number
            number += 1
            return _event({"type": kind, "sequence_number": number - 1, **fields}, kind)

        response_id = _id("resp_")
        yield event("response.created", response=self._response(response_id, reply, "in_progress", [], None))
        items = self._items(reply)
        for index, item in enumerate(items):
            where = {"output_index": index, "item_id": item["id"]}
            started = {**item, "status": "in_progress", **({"content": []} if item["type"] == "message" else {})}
            yield event("response.output_item.added", output_index=index, item=started)
            if item["type"] == "message":
                empty = {"type": "output_text", "text": "", "annotations": []}
                yield event("response.content_part.added", **where, content_index=0, part=empty)
                for piece in reply.pieces:
                    yield event("response.output_text.delta", **where, content_index=0, delta=piece, logprobs=[])
                yield event("response.output_text.done", **where, content_index=0, text=reply.text, logprobs=[])
                yield event("response.content_part.done", **where, content_index=0, part=item["content"][0])
            elif item["type"] == "function_call":
                yield event("response.function_call_arguments.delta", **where, delta=item["arguments"])
                yield event("response.function_call_arguments.done", **where, arguments=item["arguments"])
            yield event("response.output_item.done", output_index=index, item=item)
        done = self._response(response_id, reply, "completed", items, reply.usage)
        yield event("response.completed", response=done)

    @staticmethod
    def _items(reply: Reply) -> list[Json]:
        items: list[Json] = [
            {"id": _id("st_"), "type": f"{name}_call", "status": "completed"}
            for name, times in reply.server_tools.items()
            for _ in range(times)
        ]
        if reply.pieces or not reply.tools:
            content = [{"type": "output_text", "text": reply.text, "annotations": []}]
            message = {"id": _id("msg_"), "type": "message", "role": "assistant", "status": "completed"}
            items.append({**message, "content": content})
        for tool in reply.tools:
            call = {"id": _id("fc_"), "type": "function_call", "call_id": _id("call_"), "status": "completed"}
            items.append({**call, "name": tool.name, "arguments": arguments(tool)})
        return items

    @staticmethod
    def _response(response_id: str, reply: Reply, status: str, items: list[Json], usage: Usage | None) -> Json:
        counted = usage and {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input + usage.output,
        }
        return {
            "id": response_id,
            "object": "response",
            "created_at": 0,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "model": reply.model,
            "output": items,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "metadata": {},
            "usage": counted,
        }

    error = staticmethod(Chat.error)


class Messages:
    """Anthropic's Messages. Its input does not include what came from the cache."""

    def __init__(self, request: Json) -> None:
        self.messages = [request.get("system"), request.get("messages")]

    def whole(self, reply: Reply) -> Json:
        return {
            **self._head(reply),
            "content": _blocks(reply),
            "stop_reason": _stop(reply),
            **self._usage(reply.usage, reply),
        }

    def events(self, reply: Reply) -> Iterator[bytes]:
        begin = reply.usage and Usage(input=reply.usage.input, output=1, cached=reply.usage.cached)
        message = {**self._head(reply), "content": [], "stop_reason": None, **self._usage(begin)}
        yield _event({"type": "message_start", "message": message}, "message_start")
        for index, block in enumerate(_blocks(reply)):
            if block["type"] == "text":
                start, deltas = {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in reply.pieces]
            else:
                tool = reply.tools[index - (1 if reply.pieces else 0)]
                start, deltas = {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": arguments(tool)}]
            yield _event({"type": "content_block_start", "index": index, "content_block": start}, "content_block_start")
            for delta in deltas:
                yield _event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
            yield _event({"type": "content_block_stop", "index": index}, "content_block_stop")
        end: Json = {"type": "message_delta", "delta": {"stop_reason": _stop(reply), "stop_sequence": None}}
        end |= {"usage": {"output_tokens": reply.usage.output, **_server_tool_use(reply)}} if reply.usage else {}
        yield _event(end, "message_delta")
        yield _event({"type": "message_stop"}, "message_stop")

    @staticmethod
    def _head(reply: Reply) -> Json:
        return {"id": _id("msg_"), "type": "message", "role": "assistant", "model": reply.model, "stop_sequence": None}

    @staticmethod
    def _usage(usage: Usage | None, whole: Reply | None = None) -> Json:
        if usage is None:
            return {}
        cached = {"cache_read_input_tokens": usage.cached, "cache_creation_input_tokens": 0}
        counts = {"input_tokens": usage.input - usage.cached, **cached, "output_tokens": usage.output}
        return {"usage": {**counts, **(_server_tool_use(whole) if whole else {})}}

    @staticmethod
    def error(status: int, message: str, kind: str) -> Json:
        names = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
        name = names.get(status, "invalid_request_error" if status < 500 else "api_error")
        return {"type": "error", "error": {"type": name, "message": message}}


def _server_tool_use(reply: Reply) -> Json:
    counts = {f"{name}_requests": times for name, times in reply.server_tools.items()}
    return {"server_tool_use": counts} if counts else {}


def _blocks(reply: Reply) -> list[Json]:
    blocks: list[Json] = [{"type": "text", "text": reply.text}] if reply.pieces or not reply.tools else []
    for tool in reply.tools:
        given = tool.arguments if isinstance(tool.arguments, dict) else {}
        blocks.append({"type": "tool_use", "id": _id("toolu_"), "name": tool.name, "input": given})
    return blocks


def _stop(reply: Reply) -> str:
    return "tool_use" if reply.tools else "end_turn"


def embeddings(request: Json, model: str, tokens: int) -> Json:
    """A vector of eight numbers for each input, the same for the same text."""
    given = request.get("input")
    texts = given if isinstance(given, list) and not all(isinstance(item, int) for item in given) else [given]
    data = []
    for index, text in enumerate(texts):
        seed = uuid.uuid5(uuid.NAMESPACE_OID, str(text)).bytes
        vector = [byte / 255 for byte in seed[:8]]
        packed = base64.b64encode(struct.pack("<8f", *vector)).decode()
        embedding = packed if request.get("encoding_format") == "base64" else vector
        data.append({"object": "embedding", "index": index, "embedding": embedding})
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": model, "usage": usage}
