"""The model calls of a sample, as mlecore's gateway keeps them: what was counted, and what was said."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.model import messages_to_openai

from mlecore_gateway.calls import Call, Tokens, short
from mlecore_gateway.ledger import Ledger
from mlecore_gateway.transcripts import Transcripts

_PATH = "/v1/chat/completions"


def write_calls(events: Sequence[ModelEvent], logs: Path) -> None:
    """Write gateway.jsonl and transcripts.jsonl.zst into the folder ``logs``, where nothing has these names."""
    ledger, transcripts = Ledger(logs), Transcripts(logs)
    for event in events:
        call = _call(event)
        ledger.begin(call)
        ledger.end(call)
        request, response = asyncio.run(_said(event))
        transcripts.write(call.number, _PATH, _json(request), call.status, _json(response), cut=bool(event.error))
    ledger.close()
    transcripts.close()


def _call(event: ModelEvent) -> Call:
    usage, output = event.output.usage, event.output
    cached, written = (usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0) if usage else (0, 0)
    return Call(
        time=event.timestamp.isoformat(timespec="milliseconds"),
        method="POST",
        path=_PATH,
        asked=short(event.model),
        answered=short(output.model) or None,
        outcome="failed" if event.error else "passed",
        reason=short(event.error or ""),
        status=None if event.error else 200,
        usage="counted" if usage else "unknown",
        tokens=Tokens(
            input=usage.input_tokens + cached + written,
            output=usage.output_tokens,
            cached=cached,
            cache_write=written,
            reasoning=usage.reasoning_tokens or 0,
        )
        if usage
        else None,
        cost_usd=usage.total_cost if usage else None,
        priced_by="inspect" if usage and usage.total_cost is not None else None,
        seconds=event.working_time or 0.0,
        retries=event.retries or 0,
    )


async def _said(event: ModelEvent) -> tuple[dict[str, Any], dict[str, Any]]:
    """As Chat Completions would have it, whichever API it was."""
    request = {"model": event.model, "messages": await messages_to_openai(event.input)}
    answers = await messages_to_openai([choice.message for choice in event.output.choices])
    response = {"model": event.output.model, "choices": [{"message": answer} for answer in answers]}
    return request, response


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
