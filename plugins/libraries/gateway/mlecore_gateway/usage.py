"""Reads the tokens that a response reports, in any protocol, and tells whether they can be true.

What is no count, or cannot be true, is unknown: budgets, records and reports then use an estimate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .calls import Tokens

BYTES = 512  # that a token stands for at most, with all repetitions and escapes; usual ones stand for 3 to 5
OVERHEAD = 32 * 1024  # tokens of a prompt beyond the request's bytes: templates, and what a server adds of its own
MEDIA = 10_000_000  # of images, audio and documents
_MOST_TEXT = 1024 * 1024  # bytes of an answer in which text is looked for
_TEXT = re.compile(
    rb'"(?:content|text|delta|arguments|partial_json|thinking|reasoning|reasoning_content|refusal)"\s*:\s*'
    rb'"((?:[^"\\]++|\\.)*+)"'
)
_MEDIA = re.compile(rb';base64,|"(?:base64|inline_?[dD]ata|file_?[dD]ata|input_audio|image_url|image|file|document)"')
_INPUT = ("prompt_tokens", "input_tokens", "promptTokenCount")
_OUTPUT = ("completion_tokens", "output_tokens", "candidatesTokenCount")


def text_in(answer: bytes) -> int:
    """Bytes of the text that a model wrote into a body or an event, calls of tools included."""
    return sum(found.end(1) - found.start(1) for found in _TEXT.finditer(answer, 0, _MOST_TEXT))


def has_media(request: bytes | memoryview) -> bool:
    """May a request's part hold anything but text, of which a few bytes may be many tokens, or many bytes a few?"""
    return _MEDIA.search(request) is not None


def input_of(usage: Mapping[str, Any]) -> int | None:
    """Tokens of the prompt; None if that is not reported as a whole number."""
    parts = [_first(usage, _INPUT), *(usage.get(name, 0) for name in _APART)]
    return sum(parts) if all(map(_whole, parts)) else None


_APART = ("cache_read_input_tokens", "cache_creation_input_tokens")  # Anthropic's input does not include them


def tokens_of(usage: Mapping[str, Any]) -> Tokens | None:
    """None if either count is missing or no whole number."""
    read, thoughts = input_of(usage), usage.get("thoughtsTokenCount", 0)
    if read is None or not _whole(thoughts):
        return None
    wrote, total = _first(usage, _OUTPUT), usage.get("total_tokens")
    reasoning = _detail(usage, "completion_tokens_details", "output_tokens_details", name="reasoning_tokens")
    if wrote is None and ("promptTokenCount" in usage or total == read):  # Gemini wrote nothing; embeddings
        wrote = 0
    if not _whole(wrote):
        return None
    if reasoning and total == read + wrote + reasoning:  # xAI's output does not include it
        wrote += reasoning
    apart, written = (usage.get(name, 0) for name in _APART)
    cached = _detail(usage, "prompt_tokens_details", "input_tokens_details", name="cached_tokens")
    gemini = usage.get("cachedContentTokenCount")
    return Tokens(
        input=read,
        output=wrote + thoughts,  # Gemini's output does not include its thoughts
        cached=min(cached + apart + (gemini if _whole(gemini) else 0), read - written),
        cache_write=written,
        reasoning=min(reasoning + thoughts, wrote + thoughts),
    )


def fits_request(tokens: int, *, words: int, sent: int, media: bool) -> bool:
    """Can a prompt have so many tokens? ``words``: bytes of its messages; ``sent``: of the whole request."""
    least = 0 if media else -(-words // BYTES)
    return least <= tokens <= sent + (MEDIA if media else OVERHEAD)


def fits_response(tokens: int, *, text: int, received: int, most: int) -> bool:
    """Can an answer have so many tokens?

    ``text``: bytes of its text; ``received``: of the whole response, decompressed; ``most``: tokens that the request
    allows. As many may be of reasoning that is not shown.
    """
    return -(-text // BYTES) <= tokens <= received + most


def _first(usage: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((usage[name] for name in names if name in usage), None)


def _detail(usage: Mapping[str, Any], *places: str, name: str) -> int:
    """A part of a count, which is only needed for the price; 0 if it is not reported as a whole number."""
    details = (usage.get(place) for place in places)
    found = next((value for each in details if isinstance(each, Mapping) and (value := each.get(name))), 0)
    return found if _whole(found) else 0


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
