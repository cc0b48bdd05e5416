"""What a model answered: the body of a response, streamed or not, as a turn of the agent."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from .turns import Json, Turn, chat_turns, items, joined, message_turns, response_turns, table

_EVENT = re.compile(r"\r\n\r\n|\n\n|\r\r")


def answer(protocol: str, body: str) -> Turn | None:
    """None: it is no answer that can be read."""
    read = {"chat": _chat, "responses": _responses, "messages": _messages}[protocol]
    try:
        if (whole := _object(body)) is not None:
            return read([whole])
        return read(list(_events(body)))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError):
        return None


def _object(text: str) -> Json | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _events(body: str) -> Iterator[Json]:
    """The data of a stream's events; what is no JSON object is skipped."""
    for event in _EVENT.split(body):
        lines = (line[5:].removeprefix(" ") for line in event.splitlines() if line.startswith("data:"))
        if (value := _object("\n".join(lines))) is not None:
            yield value


def _chat(parts: list[Json]) -> Turn | None:
    message: Json = {"role": "assistant", "content": "", "reasoning_content": "", "tool_calls": []}
    calls: dict[object, Json] = {}
    found = False
    for part in parts:
        for choice in items(part.get("choices"))[:1]:
            if isinstance(choice.get("message"), dict):
                return chat_turns({**choice["message"], "role": "assistant"})[0]
            delta = table(choice.get("delta"))
            found = True
            for name in ("content", "reasoning_content"):
                message[name] += delta.get(name) or ""
            for number, call in enumerate(items(delta.get("tool_calls"))):
                whole = calls.setdefault(
                    call.get("index", number), {"id": "", "function": {"name": "", "arguments": ""}}
                )
                whole["id"] = whole["id"] or call.get("id") or ""
                for name in whole["function"]:
                    whole["function"][name] += table(call.get("function")).get(name) or ""
    message["tool_calls"] = list(calls.values())
    return chat_turns(message)[0] if found else None


def _responses(parts: list[Json]) -> Turn | None:
    output: list[Json] = []
    for part in parts:
        if part.get("type") == "response.output_item.done":
            output += items([part.get("item")])
        whole = part if part.get("object") == "response" else table(part.get("response"))
        if listed := items(whole.get("output")):
            output = listed
    turns = joined([turn for item in output for turn in response_turns(item) if turn.source == "agent"])
    return turns[0] if turns else None


def _messages(parts: list[Json]) -> Turn | None:
    blocks: dict[object, Json] = {}
    for part in parts:
        if isinstance(part.get("content"), list):
            return message_turns({**part, "role": "assistant"})[0]
        index = part.get("index")
        if part.get("type") == "content_block_start":
            blocks[index] = table(part.get("content_block"))
        delta = table(part.get("delta"))
        if index not in blocks:
            continue
        for name, given in (("text", "text"), ("thinking", "thinking"), ("input", "partial_json")):
            if isinstance(piece := delta.get(given), str):
                before = blocks[index].get(name)
                blocks[index][name] = (before if isinstance(before, str) else "") + piece
    return message_turns({"role": "assistant", "content": list(blocks.values())})[0] if blocks else None
