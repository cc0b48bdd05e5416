"""The calls of a run's models as a conversation, read from the gateway's transcripts as far as somebody looks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from attrs import frozen

from mlecore.model.record import RunRecord
from mlecore_jobs.fetching import GATEWAY_LOG, TRANSCRIPTS

from .places import Missing, open_file

PAGE = 50  # steps
_KEPT = 4  # conversations in memory
_MOST = 64 << 20  # characters of one that are kept
_LONGEST = 20_000  # characters of one message that are kept


@frozen(kw_only=True)
class Step:
    """One message, or one answer with its calls of tools and what they returned."""

    number: int
    source: str  # system, user, agent
    text: str
    reasoning: str
    calls: list[tuple[str, str]]  # name, arguments
    results: list[str]
    at: str
    seconds: float | None
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    model: str

    @property
    def size(self) -> int:
        """Characters."""
        return len(self.text) + len(self.reasoning) + sum(map(len, self.results)) + sum(len(b) for _, b in self.calls)


class _Conversation:
    """The steps that have been read, and the rest."""

    def __init__(self, steps: Iterator[dict[str, Any]], notes: list[str]) -> None:
        self.lock = threading.Lock()
        self.notes = notes
        self.steps: list[Step] = []
        self._rest = steps
        self._room = _MOST

    def read(self, count: int) -> None:
        while len(self.steps) < count and self._room > 0:
            step = next(self._rest, None)
            if step is None:
                return
            self.steps.append(_step(len(self.steps) + 1, step))
            self._room -= self.steps[-1].size
            if self._room <= 0:
                self.notes.append("the rest is not shown: mlecore runs trace writes all of it")


@frozen(kw_only=True)
class Part:
    """Some steps of a conversation."""

    steps: list[Step]
    page: int  # from 1
    last: bool  # there are no more
    notes: list[str]


def page_of(step: Step) -> int:
    """The page that it is on."""
    return (step.number - 1) // PAGE + 1


class Conversations:
    """The conversations of all runs."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[object, ...], _Conversation] = OrderedDict()
        self._lock = threading.Lock()

    def part(self, record: RunRecord, folder: Path, page: int) -> Part:
        """``folder``: the run's, or a copy of what an active run has so far. Raises Missing without transcripts."""
        conversation = self._open(record, folder)
        with conversation.lock:
            conversation.read(page * PAGE + 1)
            steps = conversation.steps[(page - 1) * PAGE : page * PAGE]
            return Part(
                steps=steps, page=page, last=len(conversation.steps) <= page * PAGE, notes=list(conversation.notes)
            )

    def answers(self, record: RunRecord, folder: Path, most: int) -> list[Step]:
        """The first steps of the model itself; none without transcripts."""
        try:
            conversation = self._open(record, folder)
        except Missing:
            return []
        with conversation.lock:
            conversation.read(2 * most)
            return [step for step in conversation.steps if step.source == "agent"][:most]

    def _open(self, record: RunRecord, folder: Path) -> _Conversation:
        from mlecore_gateway.trace import read_steps

        runs = folder.parent
        path, log = folder / TRANSCRIPTS, folder / GATEWAY_LOG
        if not has_conversation(folder):
            raise Missing(f"{record.name} has no transcripts: it needs a model and -G transcripts=true")
        with open_file(path, runs) as probe:
            size = probe.seek(0, 2)
        key = (record.uid, str(folder), size)
        with self._lock:
            if key not in self._known:
                notes: list[str] = []
                base = urlsplit(record.endpoint or "").path.rstrip("/")
                steps = read_steps(open_file(path, runs), log, base, notes)
                self._known[key] = _Conversation(steps, notes)
            self._known.move_to_end(key)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
            return self._known[key]


def has_conversation(folder: Path) -> bool:
    try:
        for path in (TRANSCRIPTS, GATEWAY_LOG):
            open_file(folder / path, folder.parent).close()
    except Missing:
        return False
    return True


def _step(number: int, step: dict[str, Any]) -> Step:
    metrics, extra = step.get("metrics", {}), step.get("extra", {})
    seconds = extra.get("seconds")
    return Step(
        number=number,
        source=str(step.get("source", "")),
        text=_short(step.get("message", "")),
        reasoning=_short(step.get("reasoning_content", "")),
        calls=[(str(call["function_name"]), _arguments(call["arguments"])) for call in step.get("tool_calls", ())],
        results=[_short(result["content"]) for result in step.get("observation", {}).get("results", ())],
        at=str(step.get("timestamp", "")),
        seconds=seconds if isinstance(seconds, (int, float)) else None,
        tokens_in=metrics.get("prompt_tokens"),
        tokens_out=metrics.get("completion_tokens"),
        cost=metrics.get("cost_usd"),
        model=str(step.get("model_name", "")),
    )


def _arguments(given: dict[str, Any]) -> str:
    """Text as it is, which is mostly code; other values as JSON."""
    import json

    parts = [
        f"{name}: {value}"
        if isinstance(value, str)
        else f"{name}: {json.dumps(value, ensure_ascii=False, default=str)}"
        for name, value in given.items()
    ]
    return _short("\n".join(parts))


def _short(text: object) -> str:
    words = str(text)
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]} ... ({len(words) - _LONGEST} more characters)"
