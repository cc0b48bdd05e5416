"""Submissions from notebooks: writes a data frame to the file that an agent would have written."""

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
"""The path of a CSV file, or a data frame."""


@contextmanager
def as_file(submission: Submission) -> Iterator[Path]:
    """The submission's file; a temporary one for a data frame.

    A frame of pandas is written without its index, unless that has a name. Raises UsageError for any other type.
    """
    if isinstance(submission, (str, Path)):
        yield validation.path(submission, "a submission")
        return
    from mlecore.util.scratch import scratch

    kind = f"{type(submission).__module__.partition('.')[0]}.{type(submission).__name__}"  # imports neither
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
