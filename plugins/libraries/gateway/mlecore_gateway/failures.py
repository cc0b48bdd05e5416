"""Finds the error in a response whose status is good, and the status that it should have had.

OpenRouter and others answer with status 200 and ``{"error": {"code": 429, "message": ...}}``, whole or as an event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

_DEFAULT = 502  # clients try again
_ANSWERS = frozenset(  # fields that only an answer has
    "choices output content candidates data embedding embeddings delta response item part usage usageMetadata"
    " input_tokens totalTokens promptFeedback".split()
)
_MESSAGES = ("message", "msg", "detail", "errors", "error_message", "error_msg", "raw")
_CODES = ("code", "status", "status_code", "statusCode", "http_status", "type", "reason", "name")
_IN_WORDS = (  # in a message, too
    (429, r"rate.?limit|too.?many.?requests|resource.?(?:has been )?exhausted|throttl|quota"),
    (402, r"payment|billing|insufficient.?(?:balance|funds|credit)|credit balance|out of credits"),
    (401, r"unauth|authentication|invalid.?api.?key|incorrect api key"),
    (503, r"overloaded|unavailable"),
)
_IN_CODES = (
    *_IN_WORDS,
    (403, r"permission|forbidden"),
    (404, r"not.?found"),
    (504, r"time.?out|timed.?out|deadline"),
    (400, r"invalid|bad.?request|context.?length|unsupported|content.?(?:filter|policy)|validation"),
    (500, r"internal|server.?error|api.?error"),
)


class Failure(NamedTuple):
    """What a response says instead of an answer, or of the rest of one."""

    status: int  # that it means
    message: str


def failure_in(text: bytes | str) -> Failure | None:
    """The error in a JSON body or in the data of an event; None if it holds no error or is not JSON."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return next((found for item in (value if isinstance(value, list) else [value]) if (found := _failure(item))), None)


def message_in(text: bytes | str) -> str:
    """The message of a body that is known to be an error, by the shapes that servers use; empty if there is none."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    value = value[0] if isinstance(value, list) and value else value
    return _message(value.get("error") or value) if isinstance(value, dict) else ""


def _failure(value: Any) -> Failure | None:
    if not isinstance(value, dict):
        return None
    for place in _places(value):
        if error := place.get("error"):
            parts = [part for part in (error, place, value) if isinstance(part, dict)]
            return Failure(_status(parts, _message(error)), _message(error) or "an error without a message")
    if _ANSWERS & value.keys():
        return None
    message = _message(value)
    named = "error" in (value.get("type"), value.get("object"), value.get("status")) or value.get("success") is False
    if message or named or _number(value.get("code")) or _number(value.get("status")):
        return Failure(_status([value], message), message or "an error without a message")
    return None


def _places(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Where an error may be: at the top, in Responses' event about a response, in a choice."""
    choices = value.get("choices")
    for place in (value, value.get("response"), *(choices if isinstance(choices, list) else ())):
        if isinstance(place, dict):
            yield place


def _message(error: Any, depth: int = 4) -> str:
    if isinstance(error, str) or not depth:
        return error if isinstance(error, str) else ""
    if isinstance(error, list):
        return next((found for item in error if (found := _message(item, depth - 1))), "")
    if isinstance(error, dict):
        return next((found for name in _MESSAGES if (found := _message(error.get(name), depth - 1))), "")
    return ""


def _status(parts: list[dict[str, Any]], message: str) -> int:
    """By the codes, numbers first, then by the message."""
    codes = [part[name] for part in parts for name in _CODES if part.get(name)]
    if numbers := [number for code in codes if (number := _number(code))]:
        return numbers[0]
    names = [code for code in codes if isinstance(code, str)]
    tried = [*((name, _IN_CODES) for name in names), (message, _IN_WORDS)]
    found = (status for text, known in tried for status, words in known if re.search(words, text, re.IGNORECASE))
    return next(found, _DEFAULT)


def _number(code: object) -> int | None:
    """A code that is the status of an error."""
    if isinstance(code, str) and code.strip().isascii() and code.strip().isdigit() and len(code) < 9:
        code = int(code)
    return code if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600 else None
