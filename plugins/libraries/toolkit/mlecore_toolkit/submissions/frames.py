"""Submissions from notebooks: a data frame becomes the file that an agent would have written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

from mlecore.errors import UsageError
from mlecore.util import validation

if TYPE_CHECKING:
    import pandas
    import polars

Submission: TypeAlias = Union[Path, str, "pandas.DataFrame", "polars.DataFrame"]
"""A CSV file, or what would be in it."""


@contextmanager
def as_file(submission: Submission) -> Iterator[Path]:
    """The submission's file; that of a data frame is there for as long as it is needed.

    A frame of pandas is written without its index, unless that has a name. Raises UsageError for anything else.
    """
    if isinstance(submission, (str, Path)):
        yield validation.path(submission, "a submission")
        return
    from mlecore.util.scratch import scratch

    kind = f"{type(submission).__module__.partition('.')[0]}.{type(submission).__name__}"  # without an import of either
    with scratch() as folder:
        path = folder / "submission.csv"
        if kind == "pandas.DataFrame":
            named = any(name is not None for name in submission.index.names)  # type: ignore[union-attr]
            submission.to_csv(path, index=named, lineterminator="\n")  # type: ignore[union-attr]
        elif kind == "polars.DataFrame":
            submission.write_csv(path)
        else:
            raise UsageError(f"a submission is the path of a CSV file, or a data frame of pandas or polars, not {kind}")
        yield path
