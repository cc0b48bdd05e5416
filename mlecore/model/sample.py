"""The public copy of the sample submission, which may be in a zip or 7z: ``public/x.csv.zip!x.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlecore.errors import DataError
from mlecore.model.facts import Facts


def sample_place(facts: Facts, public: Path) -> tuple[Path, str | None]:
    """The file in ``public`` that contains the sample, and the member if that file is an archive."""
    path, _, member = facts.sample.partition("!")
    return public / Path(path).relative_to("public"), member or None


def sample_bytes(facts: Facts, public: Path) -> int:
    """Size of the sample in bytes, unpacked. Raises DataError if it is missing."""
    with open_sample(facts, public) as plain:
        return plain.stat().st_size


@contextmanager
def open_sample(facts: Facts, public: Path) -> Iterator[Path]:
    """A path to the sample as a plain CSV file, valid within the context."""
    path, member = sample_place(facts, public)
    if member is None:
        if not path.is_file():
            raise _missing(facts, path, FileNotFoundError("no such file"))
        yield path
        return
    from mlecore.util.scratch import scratch
    from mlecore_toolkit.prepare.archives import extract

    with scratch() as folder:
        try:
            extract(path, folder, {member: "sample.csv"})
        except DataError as error:
            raise _missing(facts, path, error) from None
        yield folder / "sample.csv"


def _missing(facts: Facts, path: Path, error: Exception) -> DataError:
    return DataError(
        f"the sample submission of {facts.id} cannot be read from {path}: {error}",
        fix=f"Prepare the competition again: mlecore prepare {facts.id} --force",
    )
