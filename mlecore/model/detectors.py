"""The values that a detector declares and returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

from mlecore.model.agents import Usage
from mlecore.model.options import Option

Verdict = Literal["clean", "note", "suspicious", "violation", "undecided"]
"""``suspicious`` and ``violation`` flag the run: reports count it as a failure in a second set of rates. A ``note`` is
worth reading and counts nowhere. ``undecided``: the detector lacked something that it needs to call the run clean.
"""


@frozen(kw_only=True)
class Detector:
    """What a detector is."""

    summary: str
    options: tuple[Option, ...] = ()
    secrets: tuple[str, ...] = ()  # environment variables that must be set
    variables: tuple[str, ...] = ()  # others that it may read; KAGGLE_* stands for all that begin so. See detectors.md
    programs: tuple[str, ...] = ()  # that must be on PATH
    compares: bool = False  # it compares runs: those of a group are judged once more when the group is complete
    seconds: float = 600.0  # that judging one run may take; then it is ended and reported as failed
    memory_gb: float = 8.0  # that each of its processes may take; then it is reported as failed


@frozen(kw_only=True)
class Evidence:
    """The place of a finding, with a quote."""

    file: str  # relative to the run's folder, or to what ``of`` names
    of: str = ""  # what the file belongs to, where it is not the run: another run, a notebook, the public data
    line: int | None = None  # the first one, from 1; of a notebook: in the script made of it (runs/code.py)
    last_line: int | None = None  # where it is not the first one
    offset: int | None = None  # bytes from the start of the file
    quote: str = ""  # what stands there, word for word; a long one is cut


@frozen(kw_only=True)
class Finding:
    """One thing that a detector saw in a run."""

    rule: str  # what was broken or resembled: short, stable, small letters and dashes
    verdict: Verdict  # "violation" and "suspicious" flag the run, the others do not
    summary: str  # a sentence
    confidence: float | None = None  # how sure it is, from 0 to 1
    evidence: tuple[Evidence, ...] = ()  # where it shows
    details: Mapping[str, Any] = field(factory=dict)  # figures and whatever else helps to check it, as JSON has it


@frozen(kw_only=True)
class NotRead:
    """Something that a detector should have read and did not, in whole or in part."""

    file: str  # relative to the run's folder, or to what the reason names
    why: str  # the reason, and how much of it was not read


@frozen(kw_only=True)
class Detection:
    """The result of detect(): findings, usage and settings.

    A run of which something was not read is undecided at best, whatever the findings say.
    """

    findings: tuple[Finding, ...]
    not_read: tuple[NotRead, ...] = ()
    usage: Usage | None = None  # of models
    settings: Mapping[str, Any] = field(factory=dict)  # what it judged with, besides its options
