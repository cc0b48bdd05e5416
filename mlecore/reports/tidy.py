"""A report's runs as a table with one row per run: CSV, or a data frame for notebooks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from attrs import asdict

from mlecore import validation
from mlecore.reports.document import Document, RunLine
from mlecore.reports.text import as_csv

if TYPE_CHECKING:
    from pandas import DataFrame

_NESTED = ("suspicions", "remarks", "judged")


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
    """With a header line."""
    found = rows(document)
    return as_csv(list(found[0]) if found else [], (row.values() for row in found))


def report(
    *groups: str | Path | Iterable[str | Path],
    runs: str | Path | None = None,
    competitions: str | Iterable[str] = (),
    pad_missing: bool = False,
    mix: bool = False,
) -> DataFrame:
    """One row per planned run of these groups, each a name or a path: what ``mlecore report --csv`` prints.

    ``runs`` is the folder of the groups (default: the variable MLECORE_RUNS, else "runs"); the other arguments are
    those of the command. Numbers are in numeric columns, and what is missing is NaN or NA. ``frame.attrs["report"]`` is
    the whole report, as ``--json`` has it. Raises UsageError.
    """
    from mlecore.reports.sources import read_sources
    from mlecore.reports.summary import summarise

    named = [str(path) for group in groups for path in validation.paths(group, "a group")]
    default = os.environ.get("MLECORE_RUNS") or "runs"
    folder = validation.path(default if runs is None else runs, "the folder of the groups")
    chosen = validation.texts(competitions, "a competition")
    document = summarise(read_sources(named, [], folder), competitions=chosen, pad_missing=pad_missing, mix=mix)
    frame = to_frame(document)
    frame.attrs["report"] = document.to_json()
    return frame


def to_frame(document: Document) -> DataFrame:
    """Column types follow from the fields of RunLine, so that they are the same for every report."""
    import pandas as pd

    frame = pd.DataFrame(rows(document))
    kinds = get_type_hints(RunLine)
    numeric = {name: dtype for name in frame if (dtype := _DTYPES.get(kinds.get(name)))}
    return frame.astype(numeric)


_DTYPES: Mapping[object, str] = {float | None: "float64", int | None: "Int64", bool | None: "boolean"}
