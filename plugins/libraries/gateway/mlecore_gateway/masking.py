"""Masks the real key in what an endpoint sends back."""

from __future__ import annotations

SHORTEST = 8  # characters; anything shorter is not a key, and would be found everywhere


class Mask:
    """For a stream in pieces; pieces keep their length, and only the beginning of a key is held back."""

    def __init__(self, key: str) -> None:
        self._key = key.encode() if len(key) >= SHORTEST else b""
        self._held = b""
        self.hits = 0

    def feed(self, piece: bytes) -> bytes:
        if not self._key:
            return piece
        data = self._clean(self._held + piece)
        keep = self._tail(data)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def rest(self) -> bytes:
        """At the stream's end."""
        held, self._held = self._held, b""
        return held

    def name(self, text: str) -> str:
        """A header's name, masked in any case: servers and proxies change it."""
        clean = self.text(text)
        if self._key and self._key.lower() in clean.lower().encode("utf-8", "surrogateescape"):
            self.hits += 1
            return "*" * len(clean)
        return clean

    def text(self, text: str) -> str:
        """A header's value or a status line, masked."""
        return self._clean(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def _clean(self, data: bytes) -> bytes:
        if self._key and self._key in data:
            self.hits += data.count(self._key)
            return data.replace(self._key, b"*" * len(self._key))
        return data

    def _tail(self, data: bytes) -> int:
        """How many bytes at the end could be the key's beginning."""
        last = data[-len(self._key) + 1 :]
        start = last.find(self._key[:1])
        while start >= 0:
            if self._key.startswith(last[start:]):
                return len(last) - start
            start = last.find(self._key[:1], start + 1)
        return 0
