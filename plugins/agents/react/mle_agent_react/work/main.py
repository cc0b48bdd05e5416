"""A ReAct agent: a model that calls tools in a loop until it submits or its time is up.

The task comes on standard input, the settings in the variable REACT_SETTINGS, and the model's address and key in the
variables that OpenAI's client reads. Every message is kept in logs/react.jsonl, how it ended in logs/outcome.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import clock
import commands
import ending
import openai

HOME = Path(os.environ.get("MLECORE_HOME", "/home"))
FAILURES = 3  # calls of the model in a row

SYSTEM = """\
You are an expert in machine learning and work on a competition, alone. Use the tool `shell` to look at the data, to
write programs (keep them in code/) and to run them. Each command starts in the folder that holds data/ and submission/;
variables and the current folder do not last from one command to the next. Write a simple valid submission early, then
improve it: measure each idea on rows held out from the training data. When nothing improves it any more, call `submit`.
"""
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "shell",
            "description": "Run a command with bash and return what it prints, shortened in the middle. When it"
            " ends, all that it started ends, too.",
            "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
        },
    },
    {
        "type": "function",
        "function": {
            "name": "submit",
            "description": "Hand in submission/submission.csv and end the work, if the file is valid.",
            "parameters": {"type": "object", "properties": {}},
        },
    },
]


class NoAnswer(Exception):
    """The model's answer cannot be read."""


class Agent:
    """The conversation so far: ``head`` stays, ``turns`` are the model's answers, each with the tools' results."""

    def __init__(self, settings: dict[str, Any], task: str) -> None:
        self.settings = settings
        self.client = openai.OpenAI(max_retries=settings["retries"], timeout=600)
        self.head: list[dict[str, Any]] = [
            {"role": "system", "content": settings["system"] or SYSTEM},
            {"role": "user", "content": task},
        ]
        self.turns: list[list[dict[str, Any]]] = []
        self.log = (HOME / "logs" / "react.jsonl").open("a", encoding="utf-8", buffering=1)

    def run(self) -> str:
        """Work until there is a reason to stop; returns the outcome."""
        for message in self.head:
            self.log.write(json.dumps({"message": message}) + "\n")
        unused: list[str] = []  # the last answers without a call that a tool took
        for step in range(1, self.settings["steps"] + 1):
            if clock.left() < commands.RESERVE:
                return "time_up"
            try:
                answer = self.ask()
            except (openai.APIError, NoAnswer) as error:
                return f"no_answer: {error}"
            turn: list[dict[str, Any]] = [answer]
            calls = answer.get("tool_calls") or []
            unused.append(answer["content"])
            for call in calls:
                result, done = self.use(call["function"]["name"], call["function"]["arguments"])
                if done:
                    return "submitted"
                if is_object(call["function"]["arguments"]):
                    unused.clear()
                else:  # servers reject a history with such a call
                    call["function"]["arguments"] = "{}"
                turn.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            if len(unused) == ending.SILENT:
                return ending.without_calls(unused)
            if not calls:
                turn.append({"role": "user", "content": "Go on with a tool. If you are done, call submit."})
            turn[-1]["content"] += f"\n[step {step} of {self.settings['steps']}; time left: {clock.left_in_words()}]"
            self.turns.append(turn)
            for message in turn:
                self.log.write(json.dumps({"message": message}) + "\n")
        return "steps_used"

    def ask(self) -> dict[str, Any]:
        """The model's next message. The client has tried again by then what may pass: 429, 5xx, a lost connection."""
        self.trim(self.settings["context"])
        given: dict[str, Any] = {"model": self.settings["model"], "tools": TOOLS}
        if self.settings["temperature"] is not None:
            given["temperature"] = self.settings["temperature"]
        dropped = False
        for failure in range(FAILURES):
            messages: Any = [*self.head, *(message for turn in self.turns for message in turn)]
            try:
                reply = self.client.chat.completions.create(messages=messages, **given)
                message = reply.choices[0].message.model_dump(exclude_none=True)
            except (openai.BadRequestError, openai.InternalServerError) as error:
                if not self.turns or dropped:
                    raise
                if failure or isinstance(error, openai.InternalServerError):  # it cannot read the last turn, perhaps
                    dropped = bool(self.turns.pop())
                else:  # most often: longer than the model's context, by its own count
                    self.trim(size(self.turns) // 2)
            except (ValueError, AttributeError, IndexError, TypeError) as error:  # an answer that is none
                if failure == FAILURES - 1:
                    raise NoAnswer(str(error)) from None
                time.sleep(2**failure)
            else:
                used = reply.usage
                if used:
                    counted = {"model": reply.model, "input": used.prompt_tokens, "output": used.completion_tokens}
                    self.log.write(json.dumps({"usage": counted}) + "\n")
                return {"role": "assistant", "content": "", **message}
        raise AssertionError("the last failure raises")

    def trim(self, tokens: int) -> None:
        """Forget the oldest turns until the rest has no more than so many tokens."""
        while len(self.turns) > 1 and size(self.turns) > tokens:
            del self.turns[0]

    def use(self, tool: str, arguments: str) -> tuple[str, bool]:
        """The result of a tool, and whether the work is done."""
        if not is_object(arguments):
            return f"The arguments are no JSON object; were they cut short? They begin with {arguments[:200]!r}.", False
        command = json.loads(arguments or "{}").get("command") if tool == "shell" else ""
        if tool == "submit":
            flaw = commands.submission_flaw(HOME)
            return flaw, not flaw
        if tool != "shell" or not isinstance(command, str):
            return "There are two tools: shell, with a command, and submit.", False
        return self.shell(command), False

    def shell(self, command: str) -> str:
        return commands.run(("bash", "-c", command), HOME, self.settings["command_timeout"], self.settings["output"])


def is_object(arguments: str) -> bool:
    """Are a call's arguments a JSON object, or nothing?"""
    try:
        return isinstance(json.loads(arguments or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def size(turns: list[list[dict[str, Any]]]) -> int:
    """About how many tokens: one for four characters."""
    return len(json.dumps(turns)) // 4


if __name__ == "__main__":
    ending.report(Agent(json.loads(os.environ["REACT_SETTINGS"]), sys.stdin.read()).run())
