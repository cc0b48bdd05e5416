"""A glob means the same to everybody: the table that the kit holds backends to."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from mlecore.util.globs import Glob
from mlecore_testing.backends.patterns import NO_GLOBS, TABLE, TREE


@pytest.mark.parametrize("text", TABLE)
def test_what_a_glob_matches(text: str) -> None:
    glob = Glob(text)
    assert tuple(path for path in TREE if glob.matches(path)) == TABLE[text]


@pytest.mark.parametrize("text", TABLE)
def test_every_folder_on_the_way_leads_to_what_matches(text: str) -> None:
    glob = Glob(text)
    for path in TABLE[text]:
        assert all(glob.leads_into(folder) for folder in PurePosixPath(path).parents)


def test_folders_that_lead_nowhere() -> None:
    glob = Glob("logs/*/best.csv")
    assert [folder for folder in (".", "logs", "logs/x", "code", "logs/x/y") if glob.leads_into(folder)] == [
        ".",
        "logs",
        "logs/x",
    ]
    assert glob.prefix == PurePosixPath("logs") and Glob("**/x").prefix == PurePosixPath()


@pytest.mark.parametrize("text", NO_GLOBS)
def test_what_is_no_glob(text: str) -> None:
    with pytest.raises(ValueError, match="not a path below"):
        Glob(text)


def test_many_stars_take_no_time() -> None:
    assert not Glob("**/" * 30 + "a*a*a*a*a*a*a*b").matches("a/" * 60 + "a" * 200)
