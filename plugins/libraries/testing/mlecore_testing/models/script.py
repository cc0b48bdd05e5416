"""What a scripted model answers, and in which order."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import msgspec

from mlecore.errors import UsageError


class Tool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call of a tool. ``arguments`` as text is sent as it is, also if it is not JSON."""

    name: str
    arguments: dict[str, Any] | str = {}


class Usage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tokens that an answer reports instead of those that the server counts (a token for four bytes of text)."""

    input: int
    output: int
    cached: int = 0  # of input
    reasoning: int = 0  # of output


class Answer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer of the script. Delays are seconds."""

    text: str = ""
    tools: tuple[Tool, ...] = ()
    when: str | None = None  # a regular expression: only for requests whose last message contains it
    times: int = 1  # how often; 0: without end
    model: str | None = None  # that answers; None: the one that was asked for
    usage: Usage | None = None
    server_tools: dict[
        str, int
    ] = {}  # tools of the provider -> how often it used them, as Responses and Messages say it
    reports_usage: bool = True  # False: leave it out, as some servers do
    status: int = 200  # others are errors, with ``text`` as their message
    retry_after: float | None = None
    overflow: bool = False  # refuse the request as longer than the context window
    malformed: bool = False  # the body is not JSON
    echo: bool = False  # the text is the request's headers
    delay: float = 0.0  # before the first byte
    pause: float = 0.0  # between the pieces of a stream
    cut_after: int | None = None  # break the connection after so many pieces of a stream, or half of a body


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Answers, given in their order; the last one is repeated when all are used up."""

    answers: tuple[Answer, ...] = (Answer(text="Hello."),)
    models: tuple[str, ...] = ("scripted",)  # what /models lists; any model is answered for
    context: int | None = None  # tokens; a longer request overflows
    key: str | None = None  # that a request must have

    def __post_init__(self) -> None:
        if not self.answers:
            raise ValueError("a script has at least one answer")
        for answer in self.answers:
            if answer.when is not None:
                try:
                    re.compile(answer.when)
                except re.error as error:
                    raise ValueError(f"when = {answer.when!r} is not a regular expression: {error}") from None


def read_script(path: Path) -> Script:
    """From a TOML file. Raises UsageError that names the file and what is wrong in it."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Script)
    except (OSError, ValueError) as error:
        raise UsageError(f"the script {path}: {error}") from None


class Cursor:
    """The position in a script. Thread-safe."""

    def __init__(self, script: Script) -> None:
        self._answers = script.answers
        self._used = [0] * len(script.answers)
        self._lock = threading.Lock()

    def next(self, last_message: str) -> Answer:
        """The first unused answer that fits; else the last of the script that fits; else the last."""
        with self._lock:
            number = self._find(last_message)
            self._used[number] += 1
            return self._answers[number]

    def peek(self, last_message: str) -> Answer:
        """The same answer, which is not used up."""
        with self._lock:
            return self._answers[self._find(last_message)]

    def _find(self, last_message: str) -> int:
        fitting = [
            number
            for number, answer in enumerate(self._answers)
            if answer.when is None or re.search(answer.when, last_message)
        ]
        for number in fitting:
            if not self._answers[number].times or self._used[number] < self._answers[number].times:
                return number
        return fitting[-1] if fitting else len(self._answers) - 1
