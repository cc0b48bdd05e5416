"""Graders that pair rows by position, or accept what is no answer, are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlecore.errors import InvalidSubmission, PluginError
from mlecore_audit import grader
from mlecore_audit.finding import Finding
from mlecore_audit.subject import Subject

pytestmark = pytest.mark.slow

Planted = Callable[..., Subject]


def _found(subject: Subject) -> dict[str, Finding]:
    return {finding.kind: finding for finding in grader.examine(subject)}


def test_a_strict_grader_has_only_its_known_flaws(planted: Planted) -> None:
    found = _found(planted())
    assert set(found) <= {"foreign classes"}  # v1 takes any whole number for a digit
    assert all(finding.level == "caution" and finding.file == "grade" for finding in found.values())


def test_pairing_by_position_is_found(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = planted()
    answers = list(subject.perfect["digit"])

    def by_position(submission: Any, *_: Any) -> float:
        import pandas as pd

        if not isinstance(submission, Path):  # the sample
            return 0.1
        try:
            given = list(pd.read_csv(submission, dtype=str)["digit"])
        except (ValueError, KeyError):
            raise InvalidSubmission("no table with digits") from None
        return sum(a == b for a, b in zip(given, answers, strict=False)) / len(answers)

    monkeypatch.setattr(subject.competition, "grade", by_position)
    found = _found(subject)
    assert "rows are reversed scores" in found["position pairing"].evidence
    assert {"repeats", "missing rows", "foreign keys", "missing values", "fractions", "foreign classes"} <= set(found)


def test_a_check_that_crashes_is_named(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = planted()

    def crash(*_: Any) -> None:
        raise PluginError("no such column")

    monkeypatch.setattr(subject.competition, "check", crash)
    _found(subject)
    assert "no such column" in subject.unexamined["check"]


def test_a_check_that_rejects_more_than_grade_is_found(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = planted()

    def rejects(*_: Any) -> list[str]:
        raise InvalidSubmission("nothing is good enough")

    monkeypatch.setattr(subject.competition, "check", rejects)
    found = _found(subject)
    assert found["agreement"].file == "check"
    assert "that grade accepts" in found["agreement"].evidence
