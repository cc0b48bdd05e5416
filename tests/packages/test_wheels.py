"""What an index gets: each wheel has its licence, its authors and a page that an index can show."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "folder", [ROOT, ROOT / "plugins" / "competitions" / "spaceship-titanic"], ids=lambda f: f.name
)
def test_a_wheel_has_licence_authors_and_its_page(folder: Path, build: Callable[[Path], Path]) -> None:
    with zipfile.ZipFile(build(folder)) as wheel:
        names = wheel.namelist()
        (metadata,) = [wheel.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")]
        (licence,) = [wheel.read(name) for name in names if name.endswith(".dist-info/licenses/LICENSE")]
    assert licence == (ROOT / "LICENSE").read_bytes()
    head, _, page = metadata.partition("\n\n")
    assert "Author: The mlecore developers" in head
    assert "License-Expression: MIT" in head
    assert "Classifier: " in head
    assert page.startswith("# ")
    assert not re.search(r"\]\((?!https://)", page)
