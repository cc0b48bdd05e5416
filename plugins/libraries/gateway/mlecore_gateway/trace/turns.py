"""What the requests and responses of each protocol say, in one form."""

from __future__ import annotations

from typing import Any

import msgspec

Json = dict[str, Any]


class ToolCall(msgspec.Struct):
    """A tool that the model wants to use."""

    id: str
    name: str
    arguments: Json


class Turn(msgspec.Struct):
    """One thing that was said: by the system, the user, the agent's model, or a tool (``result_of`` a call)."""

    source: str  # system, user, agent, tool
    text: str = ""
    reasoning: str = ""
    calls: list[ToolCall] = []
    result_of: str = ""


def table(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def whole_number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def text_of(content: object) -> str:
    """The text of a message's content; other parts, such as images, by their type."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    parts = []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(text := table(part).get("text"), str):
            parts.append(text)
        elif isinstance(refusal := table(part).get("refusal"), str):
            parts.append(refusal)
        else:
            parts.append(f"[{table(part).get('type', 'no text')}]")
    return "\n".join(parts)


def arguments(given: object) -> Json:
    """A tool's arguments as an object; text that is none under ``text``."""
    if isinstance(given, dict):
        return given
    if not isinstance(given, str):
        return {}
    try:
        read = msgspec.json.decode(given or "{}")
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        read = given
    return read if isinstance(read, dict) else {"text": given}


def chat_turns(message: object) -> list[Turn]:
    """A message of Chat Completions."""
    said = table(message)
    role, text = said.get("role"), text_of(said.get("content"))
    if role in ("tool", "function"):
        return [Turn("tool", text, result_of=str(said.get("tool_call_id") or ""))]
    if role != "assistant":
        return [Turn("system" if role in ("system", "developer") else "user", text)]
    calls = []
    for call in items(said.get("tool_calls")):
        inner = table(call.get("function") or call.get("custom"))
        given = inner.get("arguments", inner.get("input"))
        calls.append(ToolCall(str(call.get("id") or ""), str(inner.get("name") or ""), arguments(given)))
    reasoning = text_of(said.get("reasoning_content") or said.get("reasoning"))
    return [Turn("agent", text or text_of(said.get("refusal")), reasoning, calls)]


def message_turns(message: object) -> list[Turn]:
    """A message of Anthropic's Messages."""
    said = table(message)
    content = said.get("content")
    blocks = items(content)
    if said.get("role") == "assistant":
        calls = [
            ToolCall(str(block.get("id") or ""), str(block.get("name") or ""), arguments(block.get("input")))
            for block in blocks
            if block.get("type") == "tool_use"
        ]
        thoughts = [str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking"]
        unsaid = ("tool_use", "thinking", "redacted_thinking")
        spoken = [block for block in blocks if block.get("type") not in unsaid]
        return [Turn("agent", text_of(content if isinstance(content, str) else spoken), "\n".join(thoughts), calls)]
    results = [
        Turn("tool", text_of(block.get("content")), result_of=str(block.get("tool_use_id") or ""))
        for block in blocks
        if block.get("type") == "tool_result"
    ]
    rest = content if isinstance(content, str) else [block for block in blocks if block.get("type") != "tool_result"]
    return [*results, Turn("user", text_of(rest))] if rest or not results else results


def response_turns(item: object) -> list[Turn]:
    """An item of the Responses API, of an input or an output."""
    said = table(item)
    kind = str(said.get("type") or "message")
    call_id = str(said.get("call_id") or said.get("id") or "")
    if kind == "message":
        role = said.get("role")
        source = {"assistant": "agent", "system": "system", "developer": "system"}.get(str(role), "user")
        return [Turn(source, text_of(said.get("content")))]
    if kind == "reasoning":
        return [Turn("agent", reasoning=text_of(said.get("content") or said.get("summary")))]
    if kind.endswith("_output"):
        return [Turn("tool", text_of(said.get("output")), result_of=call_id)]
    if kind.endswith("_call"):
        given = said.get("arguments", said.get("input", said.get("action")))
        return [Turn("agent", calls=[ToolCall(call_id, str(said.get("name") or kind), arguments(given))])]
    return []


def joined(turns: list[Turn]) -> list[Turn]:
    """Neighbouring turns of the agent as one: the Responses API writes an answer as several items."""
    out: list[Turn] = []
    for turn in turns:
        if out and out[-1].source == turn.source == "agent":
            last = out[-1]
            text = "\n".join(filter(None, (last.text, turn.text)))
            reasoning = "\n".join(filter(None, (last.reasoning, turn.reasoning)))
            out[-1] = Turn("agent", text, reasoning, [*last.calls, *turn.calls])
        else:
            out.append(turn)
    return out
