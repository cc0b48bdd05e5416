"""What a detector declares and finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from mlecore.agents import Usage
from mlecore.options import Option

Verdict = Literal["clean", "suspicious", "violation", "undecided"]


@frozen(kw_only=True)
class Detector:
    """What a detector is."""

    summary: str
    options: tuple[Option, ...] = ()
    secrets: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()  # that must be on PATH


@frozen(kw_only=True)
class Finding:
    """One thing that a detector saw in a run."""

    rule: str  # what was broken or resembled, short and stable
    verdict: Verdict
    summary: str
    evidence: Mapping[str, object] = field(factory=dict)


@frozen(kw_only=True)
class Detection:
    """What detect() returns: findings, and what it took to reach them."""

    findings: tuple[Finding, ...]
    usage: Usage | None = None
    settings: Mapping[str, object] = field(factory=dict)
