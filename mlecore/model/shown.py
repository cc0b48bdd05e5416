"""What the agents of a run see of its competition."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from mlecore.model.backends import Dataset
from mlecore_toolkit.submissions.format import Format


@frozen(kw_only=True)
class Shown:
    """A competition as agents see it: as it is, or, in a subclass from an extension, obfuscated."""

    competition: str  # its id, or a name that tells nothing
    title: str
    description: str
    description_digest: str  # SHA-256, before anything in it was renamed: the same for all runs that compare
    dataset: Dataset  # complete once ``provide`` has run
    format: Format  # of a submission, in the names that agents see
    sample: Path | None = None  # None: the competition's own

    def provide(self, group: Path) -> None:
        """Complete the dataset and note that the group in this folder uses it. Repeatable.

        Raises OSError, DataError.
        """

    def restore(self, submissions: Sequence[Path], task: str | None) -> None:
        """Edit submissions in place: they get the competition's own names and order. Repeatable.

        ``task`` is the ``competition`` that their agent saw. Raises DataError if its names are lost.
        """
