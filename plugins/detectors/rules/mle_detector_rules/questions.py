"""The questions that a judge answers, from a TOML file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from attrs import frozen

from mlecore.errors import UsageError
from mlecore.util.schema import SchemaError, read_toml, structure

_RULE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LIMIT = 256 * 1024  # bytes of the file


@frozen(kw_only=True)
class Question:
    """One rule, and what breaks it."""

    rule: str  # short, small letters and dashes
    ask: str  # the question; yes means that the rule is broken
    yes: str  # what counts
    no: str  # what does not count
    verdict: Literal["suspicious", "violation"] = "suspicious"  # of a run with a yes that stands


@frozen(kw_only=True)
class Questions:
    """The file."""

    questions: tuple[Question, ...]


def read_questions(path: str | None) -> tuple[Question, ...]:
    """From a file, by default the package's questions.toml. Raises UsageError that names what is wrong in it."""
    file = Path(path) if path else Path(__file__).with_name("questions.toml")
    try:
        found = structure(Questions, read_toml(file, _LIMIT)).questions
    except (SchemaError, OSError) as error:
        raise UsageError(f"the questions {file}: {getattr(error, 'message', error)}") from None
    rules = [question.rule for question in found]
    wrong = [rule for rule in rules if not _RULE.fullmatch(rule)]
    if not found or wrong or len(set(rules)) < len(rules):
        what = f"{wrong[0]!r} is no rule's name" if wrong else "it needs questions, and each rule once"
        raise UsageError(f"the questions {file}: {what}", fix="Names have small letters, digits and dashes.")
    return found
