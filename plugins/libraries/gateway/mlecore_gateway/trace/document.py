"""The trajectory as a JSON document, written piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ..calls import Call
from ..ledger import read_calls
from ..transcripts import read_records
from .steps import MESSAGES, Steps
from .turns import Json, whole_number

VERSION = "ATIF-v1.7"
BYTES = 4 << 30  # of a trace
_SUMS = {"prompt_tokens": "total_prompt_tokens", "completion_tokens": "total_completion_tokens"}
_SUMS |= {"cached_tokens": "total_cached_tokens", "cost_usd": "total_cost_usd"}


def write_trace(
    transcripts: BinaryIO, log: Path, base: str, head: Json, notes: list[str], *, most: int = BYTES
) -> Iterator[bytes]:
    """The document. ``head`` has the fields of its root but steps; ``base`` is the path of the endpoint's URL.

    ``notes`` gets what is missing in it, and why; they are part of the document.
    """
    yield msgspec.json.encode({"schema_version": VERSION, **head})[:-1] + b',"steps":['
    sums: dict[str, float] = {}
    number = size = 0
    for step in read_steps(transcripts, log, base, notes):
        number += 1
        piece = msgspec.json.encode({"step_id": number, **step})
        size += len(piece)
        if size > most:
            number -= 1
            notes.append(f"the trace ends after {most} bytes")
            break
        for name, total in _SUMS.items():
            if (value := step.get("metrics", {}).get(name)) is not None:
                sums[total] = sums.get(total, 0) + value
        yield (b",\n" if number > 1 else b"\n") + piece
    told = {"notes": "; ".join(notes)} if notes else {}
    yield b"\n]," + msgspec.json.encode({"final_metrics": {**sums, "total_steps": number}, **told})[1:] + b"\n"


def read_steps(transcripts: BinaryIO, log: Path, base: str, notes: list[str]) -> Iterator[Json]:
    """The steps alone, as a trajectory has them but for their numbers, each as soon as it is complete."""
    calls = {call.number: _facts(call) for call in read_calls(log)}
    steps = Steps(base)
    counted = {number for number, (metrics, _) in calls.items() if metrics}
    missing = set(counted)
    try:
        for record in read_records(transcripts):
            number = whole_number(record.get("call"))
            metrics, about = calls.get(number, ({}, {}))
            missing.discard(number)
            yield from steps.take(record, metrics, about)
            if steps.full:
                notes.append(f"the trace ends after {MESSAGES} messages")
                break
    except ValueError as error:
        notes.append(str(error))
    yield from steps.rest()
    if missing:
        notes.append(f"{len(missing)} of {len(counted)} calls that the gateway counted have no transcript")


def _facts(call: Call) -> tuple[Json, Json]:
    """Tokens and cost of a call, and what else its step says."""
    metrics: dict[str, Any] = {}
    if call.tokens is not None:
        metrics = {"prompt_tokens": call.tokens.input, "completion_tokens": call.tokens.output}
        metrics |= {"cached_tokens": call.tokens.cached}
        metrics |= {} if call.cost_usd is None else {"cost_usd": call.cost_usd}
        metrics |= {"extra": {"reasoning_tokens": call.tokens.reasoning}} if call.tokens.reasoning else {}
    model = call.answered or call.asked
    extra = {"call": call.number, "seconds": call.seconds} | ({"reason": call.reason} if call.reason else {})
    return metrics, {"timestamp": call.time, **({"model_name": model} if model else {}), "extra": extra}
