"""The kit for backends passes, as root and as an ordinary user."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from mlecore_testing.backends import check_backend

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.sandbox]


def test_the_kit_passes(make_lab: Callable[..., Lab]) -> None:
    assert check_backend("slurm", make_lab().options) == []
