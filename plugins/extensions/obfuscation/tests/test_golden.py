"""Obfuscated data are the same bytes in every version: runs of one group may see data that two versions wrote."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from mle_ext_obfuscation.tables import rename_tables

from mlecore import competition
from mlecore.data.layout import DataDirs
from mlecore.data.preparing import prepare
from mlecore.data.sources import Synthetic


@pytest.mark.parametrize(
    ("id", "digest"),
    [
        ("spaceship-titanic", "c4f46368d66ffb8c6c9aedd6b9df44823edfe78a125d2e5968e6ee36c3ecdf12"),
        ("stanford-covid-vaccine", "a678cd3557b480f0a2ab477793658d6695c0ef7551fadef051bcbcb04baa87d3"),  # JSON Lines
        (
            "champs-scalar-coupling",
            "1d3757a901a12b51cf45645ff9094ebe2e5812241de4715759de075c3c635330",
        ),  # files of one id, in a folder
    ],
)
def test_files_and_names_are_those_of_the_first_version(tmp_path: Path, id: str, digest: str) -> None:
    target = competition(id)
    data = prepare(target, DataDirs.of([tmp_path / "data"]), Synthetic()).prepared
    names = rename_tables(target.facts, data.public, tmp_path / "renamed", b"a seed")
    names.write(tmp_path / "renamed" / "names.json")
    found = hashlib.sha256()
    for path in sorted(path for path in (tmp_path / "renamed").rglob("*") if path.is_file()):
        found.update(f"{path.relative_to(tmp_path / 'renamed').as_posix()}\0".encode() + path.read_bytes())
    assert found.hexdigest() == digest
