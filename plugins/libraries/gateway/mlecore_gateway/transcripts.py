"""Requests and responses, kept for people and detectors if the plan asks for it.

``transcripts.jsonl.zst`` holds one JSON object per call, each in its own zstd frame, so that ``zstdcat`` shows it. A
conversation grows by a few messages a call: the beginning of an earlier request is not written again, but referred to
as the first ``same`` messages of the call ``same_as``. ``read_transcripts`` puts them together again.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from .masking import Mask

FILE = "transcripts.jsonl.zst"
BYTES = 1024 * 1024 * 1024  # of the file
RESPONSE = 8 * 1024 * 1024  # bytes of one response
_LISTS = ("messages", "input", "contents")  # where Chat Completions and Messages, Responses, and Gemini have them
_PREFIXES = 50_000
_LINE = 512 * 1024 * 1024
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


class Transcripts:
    """The recorded model calls of one run."""

    def __init__(self, folder: Path, limit: int = BYTES, key: str = "") -> None:
        """``key`` is masked, also where the agent sends it."""
        import zstandard

        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(folder / FILE, flags, 0o600)
        self._limit = limit
        self._key = key
        self._one = threading.Lock()  # large ones are written by threads
        self._closed = False
        self._compressor = zstandard.ZstdCompressor(level=3)
        self._known: dict[bytes, tuple[int, int]] = {}  # of a conversation's beginning -> the call, its length there

    def write(self, number: int, path: str, request: bytes, status: int | None, response: bytes, cut: bool) -> None:
        """``response`` as the agent read it, decompressed. A full disk loses the transcript, not the call."""
        with self._one:
            if not self._closed:
                self._write(number, path, request, status, response, cut)

    def _write(self, number: int, path: str, request: bytes, status: int | None, response: bytes, cut: bool) -> None:
        record: dict[str, Any] = {"call": number, "path": path, **self._request(number, request)}
        record |= {"status": status, "response": response.decode("utf-8", "replace"), "response_is_whole": not cut}
        line = msgspec.json.encode(record) + b"\n"
        mask = Mask(self._key)
        frame = self._compressor.compress(mask.feed(line) + mask.rest())
        size = os.fstat(self._file).st_size
        if size + len(frame) > self._limit:
            return
        with contextlib.suppress(OSError):
            if os.write(self._file, frame) < len(frame):
                os.ftruncate(self._file, size)

    def _request(self, number: int, body: bytes) -> dict[str, Any]:
        try:
            fields = _FIELDS.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return {"request": body.decode("utf-8", "replace")}
        for name in _LISTS:
            with contextlib.suppress(KeyError, msgspec.MsgspecError):
                messages = _ITEMS.decode(fields[name])
                same_as, same = self._same(number, messages)
                rest = {key: value for key, value in fields.items() if key != name}
                new = messages[same:]
                return {"request": rest, "list": name, "same_as": same_as, "same": same, "messages": new}
        return {"request": fields}

    def _same(self, number: int, messages: list[msgspec.Raw]) -> tuple[int | None, int]:
        """The earlier call that began with most of these messages, and how many they are."""
        prefix = hashlib.blake2b(digest_size=16)
        found: tuple[int | None, int] = (None, 0)
        for count, message in enumerate(messages, 1):
            prefix.update(hashlib.blake2b(message, digest_size=16).digest())
            key = prefix.copy().digest()
            if key in self._known:
                found = self._known[key]
            else:
                self._known[key] = (number, count)
        while len(self._known) > _PREFIXES:
            del self._known[next(iter(self._known))]
        return found

    def close(self) -> None:
        with self._one:
            self._closed = True
            os.close(self._file)


def read_transcripts(file: Path) -> Iterator[dict[str, Any]]:
    """One object a call: ``call``, ``path``, ``request`` (whole again), ``status``, ``response``.

    Raises ValueError if the file is damaged.
    """
    conversations: dict[int, list[Any]] = {}
    with file.open("rb") as packed:
        for record in read_records(packed):
            if (name := record.pop("list", None)) is not None:
                before, same = conversations.get(record.pop("same_as"), []), record.pop("same")
                messages = before[:same] + record.pop("messages")
                conversations[record["call"]] = messages
                record["request"][name] = messages
            yield record


def read_records(packed: BinaryIO) -> Iterator[dict[str, Any]]:
    """One object a call, as it was written: without what an earlier call has already. Needs memory for one call.

    Raises ValueError if the file is damaged.
    """
    import zstandard

    plain = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    source = io.BufferedReader(plain)
    try:
        while line := source.readline(_LINE):
            yield msgspec.json.decode(line, type=dict[str, Any])
    except (zstandard.ZstdError, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ValueError(f"the transcripts are damaged: {error}") from None
