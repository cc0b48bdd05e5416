"""The kit for backends passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from mlecore_testing.backends import check_backend

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow]


FILES = (
    "disk",
    "time-limit",
    "logs",
    "stop",
    "removed",
    "hostile",
    "locked",
    "cut",
    "globs",
    "relay",
)  # hang on ``output``


@pytest.mark.parametrize(
    ("output", "only", "left_out"),
    [
        pytest.param("claim", (), ["disk", "gateway", "processes"], marks=pytest.mark.xdist_group("kubernetes")),
        pytest.param("pod", FILES, [], marks=pytest.mark.xdist_group("kubernetes-2")),
    ],
)
def test_the_kit_passes(make_lab: Callable[..., Lab], output: str, only: tuple[str, ...], left_out: list[str]) -> None:
    """Left out: what a pod has no limit for, and the kit's model, which listens where no pod comes."""
    skipped = check_backend("kubernetes", make_lab(output=output).options, only)
    assert [skip.rule for skip in skipped] == left_out
