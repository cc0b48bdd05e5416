"""Reports on groups of runs: scores, medals, rates over seeds and comparisons, on a terminal, as a page and as a table.

>>> import mle_ext_report
>>> mle_ext_report.report("my-group")                    # a data frame, one row per run
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame


def report(
    *groups: str | Path | Iterable[str | Path],
    runs: str | Path | None = None,
    competitions: str | Iterable[str] = (),
    trained_on: str | Iterable[str] = (),
    pad_missing: bool = False,
    mix: bool = False,
) -> DataFrame:
    """One row per planned run of these groups, each a name or a path: the table that ``mlecore report --format csv``
    prints.

    ``runs`` is the folder of the groups (default: the variable MLECORE_RUNS, else "runs"); the other arguments are
    those of the command. Numbers are in numeric columns, and what is missing is NaN or NA. ``frame.attrs["report"]`` is
    the whole report, as ``--format json`` prints it. Raises UsageError.
    """
    import os

    from mle_ext_report.formats import to_frame
    from mle_ext_report.sources import read_sources
    from mle_ext_report.summary import summarise
    from mlecore.util import validation

    named = [str(path) for group in groups for path in validation.paths(group, "a group")]
    default = os.environ.get("MLECORE_RUNS") or "runs"
    folder = validation.path(default if runs is None else runs, "the folder of the groups")
    document = summarise(
        read_sources(named, [], folder),
        competitions=validation.texts(competitions, "a competition"),
        trained_on=validation.texts(trained_on, "a competition or a split"),
        pad_missing=pad_missing,
        mix=mix,
    )
    return to_frame(document)
