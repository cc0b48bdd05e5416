"""Calls of the judge: cached by content, patient with rate limits, counted."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from mle_detector_rules.prompts import VERSION, without_fence
from mlecore.errors import DataError, UsageError
from mlecore.model.agents import Usage

if TYPE_CHECKING:
    from openai import OpenAI

_SECONDS = 180.0  # of one call
_RETRIES = 8  # of a call that met a rate limit, a time-out or a failing server; the client waits ever longer
_TRIES = 2  # of a question whose answer is not what was asked for


class TooLong(Exception):
    """A chunk does not fit into the judge's context."""


class NoAnswer(Exception):
    """The judge refused, or did not answer in the form that was asked for; the text says which."""


@frozen(kw_only=True)
class Answered:
    """What the judge said, as JSON, and what it took."""

    values: Mapping[str, Any]
    cached: bool


def cache_folder() -> Path:
    """MLECORE_RULES, or a folder of its own among the user's caches."""
    if given := os.environ.get("MLECORE_RULES"):
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("mlecore-rules", appauthor=False)


class Judge:
    """A model behind an endpoint. Thread-safe."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.model = options["model"]
        self.calls = self.from_cache = 0
        self._input = self._output = 0
        self._counted = True  # every answer said what it used
        self._lock = threading.Lock()
        self._price = _price(options.get("price"))
        self._client = _client(options)
        self._forms = True  # until the endpoint refuses them

    @property
    def endpoint(self) -> str:
        return str(self._client.base_url)

    @property
    def usage(self) -> Usage:
        """Usage of the calls that were sent; answers from the cache cost nothing."""
        if not self._counted:
            return Usage(models=(self.model,))
        cost = self._cost()
        return Usage(models=(self.model,), input_tokens=self._input, output_tokens=self._output, cost_usd=cost)

    def ask(self, messages: Sequence[dict[str, str]], form: dict[str, Any], vote: int = 0) -> Answered:
        """Raises TooLong, NoAnswer, and DataError where the endpoint cannot be used."""
        asked = [VERSION, self.endpoint, self.model, without_fence(messages), form, vote]
        path = cache_folder() / f"{hashlib.sha256(json.dumps(asked).encode()).hexdigest()}.json"
        if (known := _read(path)) is not None:
            with self._lock:
                self.from_cache += 1
            return Answered(values=known, cached=True)
        values = self._ask(messages, form)
        _write(path, values)
        return Answered(values=values, cached=False)

    def _ask(self, messages: Sequence[dict[str, str]], form: dict[str, Any]) -> dict[str, Any]:
        for number in range(_TRIES):
            try:
                return self._once(messages, form)
            except NoAnswer:
                if number == _TRIES - 1:
                    raise
        raise AssertionError

    def _once(self, messages: Sequence[dict[str, str]], form: dict[str, Any]) -> dict[str, Any]:
        import openai

        try:
            completion = self._complete(messages, form)
        except openai.BadRequestError as error:
            if _says_too_long(error):
                raise TooLong from None
            raise DataError(f"the judge's endpoint rejects the request: {_said(error)}") from None
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise UsageError(
                f"the judge's endpoint rejects the key: {_said(error)}", fix="See -D key=VARIABLE"
            ) from None
        except openai.OpenAIError as error:
            raise DataError(f"the judge cannot be asked: {_said(error)}", fix="Try again later.") from None
        self._count(completion)
        choices = getattr(completion, "choices", None) or []
        if not choices:
            raise NoAnswer("the judge's answer is empty")
        message = choices[0].message
        if getattr(message, "refusal", None) or choices[0].finish_reason == "content_filter":
            raise NoAnswer("the judge refused to answer")
        return _parsed(message.content or "")

    def _complete(self, messages: Sequence[dict[str, str]], form: dict[str, Any]) -> Any:
        import openai

        arguments: dict[str, Any] = {"model": self.model, "messages": list(messages)}
        create: Any = self._client.chat.completions.create
        if self._forms:
            try:
                return create(**arguments, response_format=form)
            except openai.BadRequestError as error:
                if _says_too_long(error) or "response_format" not in str(error):
                    raise
                self._forms = False  # an endpoint that knows no such thing: the instructions ask for JSON anyway
        return create(**arguments)

    def _count(self, completion: Any) -> None:
        usage = getattr(completion, "usage", None)
        with self._lock:
            self.calls += 1
            if usage is None:
                self._counted = False
            else:
                self._input += int(usage.prompt_tokens or 0)
                self._output += int(usage.completion_tokens or 0)

    def _cost(self) -> float | None:
        if self._price is not None:
            return (self._input * self._price[0] + self._output * self._price[1]) / 1e6
        from mlecore_gateway.calls import Tokens
        from mlecore_gateway.prices import Prices

        found = Prices(self.endpoint, {}).cost((self.model,), Tokens(input=self._input, output=self._output))
        return found[0] if found else None


def _client(options: Mapping[str, str]) -> OpenAI:
    import openai

    key = os.environ.get(options["key"])
    if not key and not options.get("endpoint"):
        raise UsageError(f"the judge's key is missing: {options['key']} is not set", fix="See -D key=VARIABLE")
    return openai.OpenAI(
        api_key=key or "none", base_url=options.get("endpoint"), timeout=_SECONDS, max_retries=_RETRIES
    )


def _price(text: str | None) -> tuple[float, float] | None:
    if not text:
        return None
    try:
        into, out = map(float, text.split(","))
    except ValueError:
        raise UsageError(f"-D price={text} is not a price; write it like -D price=2.5,10") from None
    return into, out


def _says_too_long(error: Any) -> bool:
    words = f"{getattr(error, 'code', '')} {error}".lower()
    return "context_length" in words or "context length" in words or "too long" in words


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _write(path: Path, values: Mapping[str, Any]) -> None:
    """Whole or not at all, even if another process writes the same at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False, encoding="utf-8") as file:
        json.dump(values, file)
    Path(file.name).replace(path)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return values if isinstance(values, dict) else None


def _parsed(text: str) -> dict[str, Any]:
    """The JSON object in an answer, which may stand in a block of code."""
    start, end = text.find("{"), text.rfind("}")
    try:
        values = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        raise NoAnswer("the judge's answer is no JSON") from None
    if not isinstance(values, dict):
        raise NoAnswer("the judge's answer is no JSON object")
    return values
