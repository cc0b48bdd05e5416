"""A model that is asked with one text and answers with one, by any of the usual protocols.

Addresses and keys come from the variables that the clients read. They try again what may pass: 429, 5xx, lost
connections. Each call adds a line with its tokens to the log.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import IO, Any

Answer = tuple[str, str, int, int]  # text, model that answered, tokens in, tokens out
MOST = 8192  # tokens of an answer, which the Messages protocol requires
FAILURES = 3  # answers in a row that cannot be read


class Unanswered(Exception):
    """The model does not answer, and trying again will not help."""


class Models:
    """``ask`` is all that an agent needs. ``temperature`` None: the model's own."""

    def __init__(self, protocol: str, temperature: float | None, retries: int, log: IO[str]) -> None:
        self._ask = PROTOCOLS[protocol](retries)
        self._given: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
        self._log = log

    def ask(self, model: str, prompt: str) -> str:
        """Raises Unanswered."""
        for failure in range(1, FAILURES + 1):
            try:
                text, answered, tokens_in, tokens_out = self._ask(model, prompt, self._given)
            except Exception as error:  # of two clients, with no class in common but this
                broken = isinstance(error, (ValueError, AttributeError, IndexError, TypeError))
                if not broken or failure == FAILURES:
                    raise Unanswered(f"{type(error).__name__}: {error}") from error
                time.sleep(2**failure)
            else:
                counted = {"model": answered, "input": tokens_in, "output": tokens_out}
                self._log.write(json.dumps({"usage": counted}) + "\n")
                self._log.flush()
                return text
        raise AssertionError("the last failure raises")


Ask = Callable[[str, str, dict[str, Any]], Answer]


def chat(retries: int) -> Ask:
    """OpenAI's Chat Completions, which most others offer, too."""
    import openai

    client = openai.OpenAI(max_retries=retries)

    def ask(model: str, prompt: str, given: dict[str, Any]) -> Answer:
        reply = client.chat.completions.create(model=model, messages=[{"role": "user", "content": prompt}], **given)
        used = reply.usage
        text = reply.choices[0].message.content or ""
        return text, reply.model, used.prompt_tokens if used else 0, used.completion_tokens if used else 0

    return ask


def responses(retries: int) -> Ask:
    """OpenAI's Responses."""
    import openai

    client = openai.OpenAI(max_retries=retries)

    def ask(model: str, prompt: str, given: dict[str, Any]) -> Answer:
        reply = client.responses.create(model=model, input=prompt, **given)
        used = reply.usage
        return reply.output_text, reply.model, used.input_tokens if used else 0, used.output_tokens if used else 0

    return ask


def messages(retries: int) -> Ask:
    """Anthropic's Messages."""
    import anthropic

    client = anthropic.Anthropic(max_retries=retries)

    def ask(model: str, prompt: str, given: dict[str, Any]) -> Answer:
        asked: Any = {"model": model, "messages": [{"role": "user", "content": prompt}], "max_tokens": MOST}
        reply = client.messages.create(**asked, extra_body=given)  # newer clients know no temperature
        text = "".join(block.text for block in reply.content if block.type == "text")
        used = reply.usage
        cached = (used.cache_read_input_tokens or 0) + (used.cache_creation_input_tokens or 0)
        return text, reply.model, used.input_tokens + cached, used.output_tokens

    return ask


PROTOCOLS: dict[str, Callable[[int], Ask]] = {"chat": chat, "responses": responses, "messages": messages}
