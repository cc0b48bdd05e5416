"""Calls become steps. A tool's result arrives with a later call, so steps wait for theirs, for a while."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from typing import Any

import msgspec

from ..refusals import Refusal
from ..routes import find_route
from .answers import answer
from .turns import Json, Turn, chat_turns, joined, message_turns, response_turns, table, text_of, whole_number

MESSAGES = 1_000_000  # of all requests, those that repeat counted once
_HELD = 100  # steps that may wait for results
_HELD_CHARACTERS = 64 << 20
_READERS = {"chat": chat_turns, "responses": response_turns, "messages": message_turns}


class _Node(msgspec.Struct, eq=False):
    """A beginning of a conversation: ``depth`` messages."""

    key: bytes
    depth: int
    before: Any  # a _Node, or None


_START = _Node(b"", 0, None)


class Steps:
    """Takes calls in their order, gives steps in theirs."""

    def __init__(self, base: str) -> None:
        """``base``: the path of the endpoint's URL."""
        self._base = base
        self._nodes: dict[bytes, _Node] = {}  # every beginning of a conversation that was seen
        self._ends: dict[int, _Node] = {}  # call -> all that it said
        self._systems: set[bytes] = set()
        self._said: set[bytes] = set()  # ids of calls and texts of the agent's steps
        self._waiting: dict[str, Json] = {}  # id of a tool call -> its step
        self._queue: deque[Json] = deque()
        self._characters = 0

    @property
    def full(self) -> bool:
        """Was more said than there is memory for?"""
        return len(self._nodes) >= MESSAGES

    def take(self, record: Json, metrics: Json, about: Json) -> Iterator[Json]:
        """The steps that are complete with one call; ``record`` is its transcript, ``about`` goes to its own step."""
        protocol = self._protocol(str(record.get("path")))
        if protocol is None:
            return
        request = table(record.get("request"))
        self._system(request.get("instructions") if protocol == "responses" else request.get("system"))
        if isinstance(asked := request.get("input"), str):
            record = {**record, "messages": [{"role": "user", "content": asked}], "same": 0, "same_as": None}
        self._messages(record, _READERS[protocol])
        said = answer(protocol, str(record.get("response") or ""))
        status = record.get("status")
        if said is None or status != 200:
            self._add({"source": "system", "message": f"no answer: status {status}", "extra": about.get("extra", {})})
        else:
            self._answer(said, metrics, about, record.get("call"))
        yield from self._done()

    def rest(self) -> Iterator[Json]:
        """The steps that still wait."""
        while self._queue:
            yield self._pop()

    def _protocol(self, path: str) -> str | None:
        try:
            route = find_route(self._base, (), "POST", path, "")
        except Refusal:
            return None
        return route.protocol if route.spends and route.protocol in _READERS else None

    def _system(self, given: object) -> None:
        if (text := text_of(given)) and (key := _key(b"", text)) not in self._systems:
            self._systems.add(key)
            self._add({"source": "system", "message": text})

    def _messages(self, record: Json, read: Any) -> None:
        """What a request says beyond earlier ones, by place and content: some clients mark old messages anew."""
        node, same = self._ends.get(whole_number(record.get("same_as")), _START), whole_number(record.get("same"))
        while node.depth > same:
            node = node.before
        new: list[Turn] = []
        messages = record.get("messages")
        for message in messages if isinstance(messages, list) else ():
            turns = read(message)
            key = _key(node.key, *(part for turn in turns for part in (turn.source, turn.text, turn.result_of)))
            if key not in self._nodes:
                self._nodes[key] = _Node(key, node.depth + 1, node)
                new += turns
            node = self._nodes[key]
        self._ends[whole_number(record.get("call"))] = node
        for turn in joined(new):
            self._said_to_model(turn)

    def _said_to_model(self, turn: Turn) -> None:
        if turn.source == "tool":
            self._result(turn)
        elif turn.source != "agent":
            self._add({"source": turn.source, "message": turn.text})
        elif not all(mark in self._said for mark in _marks(turn)):  # else it is an answer, sent back
            self._add(_agent_step(turn) | {"is_copied_context": True})
            self._said.update(_marks(turn))

    def _result(self, turn: Turn) -> None:
        mark = _key(b"result", turn.result_of)
        if (step := self._waiting.pop(turn.result_of, None)) is not None:
            result = {"source_call_id": turn.result_of, "content": turn.text}
            step.setdefault("observation", {"results": []})["results"].append(result)
            self._characters += len(turn.text)
        elif mark not in self._said:
            self._add({"source": "system", "message": "", "observation": {"results": [{"content": turn.text}]}})
        self._said.add(mark)

    def _answer(self, said: Turn, metrics: Json, about: Json, number: object) -> None:
        for place, call in enumerate(said.calls):
            call.id = call.id or f"call-{number}-{place}"
        step = _agent_step(said) | about | {"llm_call_count": 1} | ({"metrics": metrics} if metrics else {})
        self._add(step)
        self._said.update(_marks(said))
        for call in said.calls:
            self._waiting[call.id] = step

    def _add(self, step: Json) -> None:
        self._queue.append(step)
        self._characters += len(step["message"])

    def _done(self) -> Iterator[Json]:
        while self._queue:
            waits = any(call["tool_call_id"] in self._waiting for call in self._queue[0].get("tool_calls", ()))
            if waits and len(self._queue) <= _HELD and self._characters <= _HELD_CHARACTERS:
                return
            yield self._pop()

    def _pop(self) -> Json:
        step = self._queue.popleft()
        for call in step.get("tool_calls", ()):
            self._waiting.pop(call["tool_call_id"], None)
        results = step.get("observation", {}).get("results", ())
        self._characters -= len(step["message"]) + sum(len(result["content"]) for result in results)
        return step


def _agent_step(turn: Turn) -> Json:
    calls = [{"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments} for call in turn.calls]
    return {
        "source": "agent",
        "message": turn.text,
        **({"reasoning_content": turn.reasoning} if turn.reasoning else {}),
        **({"tool_calls": calls} if calls else {}),
    }


def _marks(turn: Turn) -> list[bytes]:
    """By what an answer is known when it is sent back, perhaps in another form: by its calls, else by its text."""
    return [_key(b"call", call.id) for call in turn.calls] or [_key(b"text", turn.text.strip())]


def _key(before: bytes, *parts: str) -> bytes:
    digest = hashlib.blake2b(before, digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()
