"""A report's runs as a table with one row per run: CSV, or a data frame for notebooks."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict

from mlecore import given
from mlecore.reports.document import Document

if TYPE_CHECKING:
    from pandas import DataFrame

_NESTED = ("marks", "suspicions", "remarks", "judged")


def rows(document: Document) -> list[dict[str, Any]]:
    """A dictionary per run; ``suspicions`` is the number of suspicious findings, ``judged`` is text."""
    return [
        {
            "setup": setup.key,
            "title": setup.title,
            **{name: value for name, value in asdict(line, recurse=False).items() if name not in _NESTED},
            "suspicions": len(line.suspicions),
            "judged": " ".join(f"{detector}={outcome}" for detector, outcome in line.judged.items()),
        }
        for setup in document.setups
        for line in setup.runs
    ]


def to_csv(document: Document) -> str:
    """With a header line; None is an empty cell."""
    out = io.StringIO()
    found = rows(document)
    writer = csv.DictWriter(out, list(found[0]) if found else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return out.getvalue()


def report(*groups: str | Path, runs: str | Path = "runs", mix: bool = False) -> DataFrame:
    """One row per run of these groups, given by name or path: what ``mlecore report --csv`` prints. Raises UsageError.

    ``frame.attrs["report"]`` is the whole report, as ``--json`` has it.
    """
    from mlecore.reports.sources import read_sources
    from mlecore.reports.summary import summarise

    named = [str(given.path(group, "a group")) for group in groups]
    document = summarise(read_sources(named, [], given.path(runs, "the folder of the groups")), mix=mix)
    frame = to_frame(document)
    frame.attrs["report"] = document.to_json()
    return frame


def to_frame(document: Document) -> DataFrame:
    import pandas as pd

    return pd.DataFrame(rows(document))
