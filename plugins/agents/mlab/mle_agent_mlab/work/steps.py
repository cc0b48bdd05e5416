"""The format of a step: what the model is to write, and how it is read."""

from __future__ import annotations

import json
import re
from typing import Any

FIELDS = {
    "Reflection": "what the last observation means; if there was an error, what caused it and how to find out",
    "Research Plan and Status": "the whole plan, the state of each of its steps and the results that are confirmed;"
    " mark with ** what is new since the last step; be brief",
    "Fact Check": "for each thing that is new in plan and status: was it observed, or is it a guess?",
    "Thought": "what you do next and why",
    "Action": "the name of one action, exactly as it stands above",
    "Action Input": "the action's input as a JSON object",
}


class BadStep(Exception):
    """What the model wrote is no step; the text says why."""


def format_words() -> str:
    """How to answer, for the prompt."""
    return "\n".join(f"{name}: {what}" for name, what in FIELDS.items())


def read_step(text: str) -> dict[str, str]:
    """Every field of a step. Raises BadStep."""
    heads = list(
        re.finditer(r"^[ \t]*[*#]*[ \t]*(" + "|".join(map(re.escape, FIELDS)) + r")[ \t]*[*]*:[*]*", text, re.M)
    )
    found: dict[str, str] = {}
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        found.setdefault(head[1], text[head.end() : end].strip())
    if missing := [name for name in ("Thought", "Action", "Action Input") if name not in found]:
        raise BadStep(f"The line that begins with {missing[0]!r} and a colon is missing.")
    return {name: found.get(name, "") for name in FIELDS}


def read_input(text: str) -> dict[str, Any]:
    """The input of an action. Raises BadStep."""
    inner = re.sub(r"^```(?:json)?\s*|\s*```$", "", text.partition("\nObservation:")[0].strip())
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(inner)  # raw line ends inside texts are common
    except ValueError as error:
        raise BadStep(f"The action input is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadStep("The action input is not a JSON object.")
    return value


def written(step: dict[str, str], observation: str) -> str:
    """A step and what came of it, as the model sees it afterwards."""
    lines = "\n".join(f"{name}: {step[name]}" for name in FIELDS)
    return f"{lines}\nObservation:\n```\n{observation}\n```\n"
