"""The published leaderboard of MLE-bench."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

from attrs import frozen

SOURCE = "MLE-bench's public leaderboard, which was closed to entries in April 2026; its last entry is of 2026-03-06"
SPLITS = ("low", "medium", "high", "all")


@frozen(kw_only=True)
class Entry:
    """One published line: share of competitions with any medal, in percent, as mean ± one standard error."""

    agent: str
    models: str
    rates: dict[str, tuple[float, float]]  # split -> (mean, standard error)
    hours: float  # the time limit
    date: str
    known_leak: bool  # the agent is known to have reached answers or feedback from them
    source_available: bool
    reports_available: bool  # its grading reports were published


@cache
def published() -> tuple[Entry, ...]:
    """Every entry, the best over all competitions first."""
    with (files("mle_ext_report") / "published.csv").open(encoding="utf-8") as lines:
        found = [
            Entry(
                agent=row["agent"],
                models=row["models"],
                rates={split: (float(row[split]), float(row[f"{split}_sem"])) for split in SPLITS},
                hours=float(row["hours"]),
                date=row["date"],
                known_leak=row["known_leak"] == "yes",
                source_available=row["source_available"] == "yes",
                reports_available=row["reports_available"] == "yes",
            )
            for row in csv.DictReader(lines)
        ]
    return tuple(sorted(found, key=lambda entry: -entry.rates["all"][0]))
