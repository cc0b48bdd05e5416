"""The mean probability of a text's tokens, by an endpoint that echoes a prompt with its log-probabilities."""

from __future__ import annotations

import json
import math
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

from attrs import field, frozen

from mlecore.errors import EndpointError

PIECE = 4000  # characters that are sent at once
_SECONDS = 300.0


@frozen(kw_only=True)
class Endpoint:
    """A model behind an API with completions."""

    url: str  # its base: URL/completions is called
    model: str
    key: str | None = field(default=None, repr=False)

    def log_probabilities(self, text: str) -> list[float]:
        """Of each token of the text but the first, given the ones before it. Raises EndpointError."""
        asked = {"model": self.model, "prompt": text, "max_tokens": 1, "temperature": 0, "echo": True, "logprobs": 1}
        answer = self._post(asked)
        try:
            given = answer["choices"][0]["logprobs"]
            found = list(zip(given["text_offset"], given["token_logprobs"], strict=True))
            # the one token that the model adds begins where the prompt ends
            values = [float(value) for offset, value in found if offset < len(text) and value is not None]
        except (KeyError, IndexError, TypeError, ValueError):
            values = []
        if not values or not all(value <= 1e-6 for value in values):
            raise EndpointError(
                f"{self.url} returns no log-probabilities of the prompt",
                fix="Use an endpoint whose completions take echo and logprobs, such as vLLM's.",
            )
        return values

    def _post(self, asked: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(f"{self.url.rstrip('/')}/completions", json.dumps(asked).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            said = error.read(300).decode(errors="replace")
            raise EndpointError(f"{self.url} answers {error.code}: {said}") from None
        except (OSError, ValueError) as error:
            raise EndpointError(f"{self.url} cannot be asked: {error}") from None


def mean_probability(endpoint: Endpoint, text: str) -> tuple[float, int]:
    """The mean of the tokens' probabilities, and of how many. Raises EndpointError.

    Each piece is asked for by itself; its first token has no probability and is not counted.
    """
    values = [value for piece in pieces(text) for value in endpoint.log_probabilities(piece)]
    return math.fsum(map(math.exp, values)) / len(values), len(values)


def pieces(text: str, longest: int = PIECE) -> Iterator[str]:
    """Cut at line ends where possible, without blank pieces."""
    piece = ""
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), longest):
            part = line[start : start + longest]
            if piece and len(piece) + len(part) > longest:
                yield piece
                piece = ""
            piece += part
    if piece.strip():
        yield piece
