"""What an import of runs of another harness came to."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Imported:
    """A group that was created from results of another harness."""

    group: str  # its name
    runs: int
    without_grade: tuple[str, ...]  # names of runs that are in no report
    left_out: tuple[str, ...]  # "what: why"
