"""Calls to a model: kept in a journal, so that a killed probe goes on, and counted against a budget."""

from __future__ import annotations

import hashlib
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from mlecore.errors import EndpointError, UsageError
from mlecore.util import files

_SECONDS = 300.0
_TOKENS = 2000


class OutOfCalls(UsageError):
    """The budget is used up; the journal keeps what was answered."""


@frozen(kw_only=True)
class Endpoint:
    """A model behind an API with completions."""

    url: str  # its base: URL/completions and URL/chat/completions are called
    model: str
    key: str | None = field(default=None, repr=False)

    def post(self, path: str, asked: dict[str, Any]) -> Any:
        """Its answer. Raises EndpointError. A redirection is not followed: the key goes to this address only."""
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        body = json.dumps({"model": self.model, **asked}).encode()
        request = urllib.request.Request(f"{self.url.rstrip('/')}/{path}", body, headers)
        try:
            with urllib.request.build_opener(_Stay).open(request, timeout=_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            said = error.read(300).decode(errors="replace")
            said = said.replace(self.key, "<key>") if self.key else said
            raise EndpointError(f"{self.url} answers {error.code}: {said}") from None
        except (OSError, ValueError) as error:
            raise EndpointError(f"{self.url} cannot be asked: {error}") from None


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@define
class Calls:
    """What is asked, and what it costs."""

    endpoint: Endpoint
    journal: Path | None = None
    most: int | None = None  # calls to the endpoint; what the journal has does not count
    made: int = 0
    kept: int = 0  # answers that the journal had
    input_tokens: int = 0  # as the endpoint reports, of kept answers, too
    output_tokens: int = 0
    _known: dict[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        if self.journal is None or not self.journal.exists():
            return
        text = self.journal.read_text(encoding="utf-8", errors="replace")
        if text and not text.endswith("\n"):  # torn by a kill: the next line begins anew
            files.append(self.journal, "")
        for line in text.splitlines():
            try:
                found = json.loads(line)
                self._known[found["call"]] = found["answer"]
            except (ValueError, KeyError, TypeError):
                continue

    def log_probabilities(self, text: str) -> list[float]:
        """Log probability of each token after the first, given those before it. Raises EndpointError, OutOfCalls."""
        asked = {"prompt": text, "max_tokens": 1, "temperature": 0, "echo": True, "logprobs": 1}
        values: list[float] = self._ask("completions", asked, lambda answer: _prompt(answer, len(text)))
        if not values or not all(value <= 1e-6 for value in values):
            raise EndpointError(
                f"{self.endpoint.url} returns no log-probabilities of the prompt",
                fix="Use an endpoint whose completions take echo and logprobs, such as vLLM's, or --measure questions.",
            )
        return values

    def reply(self, question: str) -> str:
        """To one message, at temperature 0. Raises EndpointError, OutOfCalls."""
        asked = {"messages": [{"role": "user", "content": question}], "max_tokens": _TOKENS, "temperature": 0}
        return str(self._ask("chat/completions", asked, _message))

    def _ask(self, path: str, asked: dict[str, Any], read: Any) -> Any:
        key = json.dumps([self.endpoint.url, self.endpoint.model, path, asked], sort_keys=True)
        call = hashlib.sha256(key.encode()).hexdigest()
        if call in self._known:
            self.kept += 1
            answer = self._known[call]
        else:
            if self.most is not None and self.made >= self.most:
                raise OutOfCalls(
                    f"all {self.most} calls are made",
                    fix="Allow more with --calls; with the same --journal, nothing that was answered is asked again.",
                )
            self.made += 1
            got = self.endpoint.post(path, asked)
            answer = {"value": read(got), "used": _usage(got)}
            self._known[call] = answer
            if self.journal is not None:
                files.append(self.journal, json.dumps({"call": call, "answer": answer}))
        self.input_tokens += answer["used"][0]
        self.output_tokens += answer["used"][1]
        return answer["value"]


def _prompt(answer: Any, length: int) -> list[float]:
    """Empty if there are none."""
    try:
        given = answer["choices"][0]["logprobs"]
        found = list(zip(given["text_offset"], given["token_logprobs"], strict=True))
        # the one token that the model adds begins where the prompt ends
        return [float(value) for offset, value in found if offset < length and value is not None]
    except (KeyError, IndexError, TypeError, ValueError):
        return []


def _message(answer: Any) -> str:
    try:
        return str(answer["choices"][0]["message"]["content"] or "")
    except (KeyError, IndexError, TypeError):
        raise EndpointError("the endpoint answers without a message") from None


def _usage(answer: Any) -> tuple[int, int]:
    usage = answer.get("usage") if isinstance(answer, dict) else None
    counts = [usage.get(name) if isinstance(usage, dict) else 0 for name in ("prompt_tokens", "completion_tokens")]
    first, second = (count if isinstance(count, int) else 0 for count in counts)
    return first, second
