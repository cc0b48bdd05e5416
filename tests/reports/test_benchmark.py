"""The table of the benchmark's competitions says what their own packages say, and where the rest is from."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

import pytest

from mlecore.reports import benchmark
from mlecore.reports.benchmark import listed, slice_sources, split_ids
from mlecore.reports.sections import sections
from mlecore.reports.summary import summarise

PACKAGES = Path(__file__).resolve().parents[2] / "plugins" / "competitions"


def facts(id: str) -> dict[str, object]:
    (path,) = PACKAGES.glob(f"{id}/**/competition.toml")
    return tomllib.loads(path.read_text())


@pytest.mark.parametrize("id", split_ids("all"))
def test_it_says_what_the_package_says(id: str) -> None:
    of_package = facts(id)
    for name in ("split", "modality", "task", "size_gb"):
        assert getattr(listed(id), name) == of_package.get(name), name


def test_a_year_says_where_it_is_from() -> None:
    with Path(benchmark.__file__).with_name("benchmark.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 75
    for row in rows:
        assert row["year_from"] == ("name" if row["year"] in row["id"] else "memory"), row["id"]


def test_slices_say_where_years_and_sizes_are_from(graded) -> None:
    document = summarise([graded("leaf-classification"), graded("AI4Code")])
    (notes,) = (section.notes for section in sections(document) if section.id == "slices")
    assert notes == (slice_sources(),)
    assert "Sizes are known for 22" in slice_sources() and "without a source" in slice_sources()
