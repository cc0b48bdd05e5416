"""What the audit finds, how serious it is, and what to do."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable
from typing import Any, Literal

from attrs import asdict, frozen

from mlecore.grading.medals import thresholds_for
from mlecore.model.data_kind import DataKind
from mlecore.model.facts import Facts

Level = Literal["answer", "leak", "caution", "note"]
"""How serious a finding is. ``answer``: public files hold the answers. ``leak``: something that is no honest input
tells the labels. ``caution``: scores may mean less than they seem to. ``note``: worth knowing."""

LEVELS: tuple[Level, ...] = ("answer", "leak", "caution", "note")  # the most serious first
UNEXAMINED = "unexamined"  # kind of a finding about what could not be read


@frozen(kw_only=True)
class Finding:
    """One thing that the audit found."""

    level: Level
    kind: str  # of flaw, one word for each check's ideas: "values", "order", "twins", "position pairing" ...
    file: str  # below the prepared folder, "public/x.zip!train/1.png"; of a hook its name: "grade"
    evidence: str  # one sentence: what was seen, with counts and an example
    score: float | None = None  # of a submission made from it alone; None where none can be made
    fix: str | None = None  # what to do, with the flag of `mlecore new competition` where one does it; None: unknown

    def to_json(self) -> dict[str, Any]:
        """With ``null`` for a score that JSON has no number for."""
        values = asdict(self)
        values["score"] = self.score if self.score is not None and math.isfinite(self.score) else None
        return values


def flag(name: str, columns: Iterable[str]) -> str:
    """Columns as arguments of `mlecore new competition`: ``--drop paid --drop 'paid at'``."""
    return " ".join(f"--{name} {shlex.quote(column)}" for column in columns)


def effect(finding: Finding, facts: Facts, kind: DataKind) -> str:
    """The effect in words: "a submission made from it alone scores 1.0: gold"; empty without a score.

    Only on published data does a score earn a medal.
    """
    if finding.score is None:
        return ""
    place = medal(finding.score, facts) if kind == "published" else ""
    return f"a submission made from it alone scores {finding.score:.5g}" + (f": {place}" if place else "")


def medal(score: float, facts: Facts) -> str:
    """The best of gold, silver, bronze and "above median" that a score reaches; empty for none, or no thresholds."""
    thresholds = thresholds_for(facts)
    if thresholds is None:
        return ""
    for name in ("gold", "silver", "bronze"):
        if facts.reaches(score, getattr(thresholds, name)):
            return name
    return "above median" if facts.better(score, thresholds.median) else ""
