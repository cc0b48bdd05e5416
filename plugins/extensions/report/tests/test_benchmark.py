"""The table of the benchmark's competitions says what their own packages say."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from mle_ext_report.benchmark import comparable, listed, split_ids

PACKAGES = Path(__file__).resolve().parents[3] / "competitions"


def facts(id: str) -> dict[str, Any]:
    (path,) = PACKAGES.glob(f"{id}/**/competition.toml")
    return tomllib.loads(path.read_text())


@pytest.mark.parametrize("id", (*split_ids("all"), *split_ids("dev")))
def test_it_says_what_the_package_says(id: str) -> None:
    of_package = facts(id)
    for name in ("split", "modality", "task", "metric"):
        assert getattr(listed(id), name) == of_package.get(name), name
    editions = of_package["editions"]
    assert all(comparable(id, name) == (edition.get("thresholds") != "none") for name, edition in editions.items())
