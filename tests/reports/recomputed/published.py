"""The published leaderboard, and a setup's own line in it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any

from recomputed.matching import Rows
from recomputed.runs import ROOT

SPLITS = ("low", "medium", "high", "all")


def published() -> Rows:
    with (ROOT / "mlecore" / "reports" / "published.csv").open() as lines:
        return Rows(
            ("agent", "models", "hours"),
            {
                (row["agent"], row["models"], float(row["hours"])): {
                    "rates": {split: [float(row[split]), float(row[f"{split}_sem"])] for split in SPLITS},
                    "hours": float(row["hours"]),
                }
                for row in csv.DictReader(lines)
            },
        )


def own(setups: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The any-medal rates of each setup over whole splits."""
    found = []
    for setup in setups:
        rates = {row["rates"]["split"].lower(): row["rates"]["rates"]["any_medal"] for row in setup["rates"]}
        found.append({"rates": {split: rates[split] for split in SPLITS if rates.get(split)}})
    return found
