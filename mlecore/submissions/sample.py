"""The sample submission's public copy, which may lie inside an archive: ``public/x.csv.zip!x.csv``."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlecore.errors import DataError
from mlecore.facts import Facts


def sample_place(facts: Facts, public: Path) -> tuple[Path, str | None]:
    """Where the sample lies: a file in ``public``, and the member if that file is an archive."""
    path, _, member = facts.sample.partition("!")
    return public / Path(path).relative_to("public"), member or None


def sample_bytes(facts: Facts, public: Path) -> int:
    """Size of the sample in bytes, unpacked. Raises DataError where it is missing."""
    path, member = sample_place(facts, public)
    try:
        if member is None:
            return path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            return archive.getinfo(member).file_size
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise _missing(facts, path, error) from None


@contextmanager
def open_sample(facts: Facts, public: Path) -> Iterator[Path]:
    """A path to the sample as a plain CSV file, for as long as the context lasts."""
    path, member = sample_place(facts, public)
    if member is None:
        if not path.is_file():
            raise _missing(facts, path, FileNotFoundError("no such file"))
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="mlecore-sample-") as folder:
        plain = Path(folder) / "sample.csv"
        try:
            with zipfile.ZipFile(path) as archive, archive.open(member) as source, plain.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise _missing(facts, path, error) from None
        yield plain


def _missing(facts: Facts, path: Path, error: Exception) -> DataError:
    return DataError(
        f"the sample submission of {facts.id} cannot be read from {path}: {error}",
        fix=f"Prepare the competition again: mlecore prepare {facts.id} --force",
    )
