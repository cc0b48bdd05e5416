"""The kit for backends passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mlecore_testing.backends import check_backend

if TYPE_CHECKING:
    from mlecore_sandboxes.containers.engine import Engine


@pytest.mark.docker
def test_the_kit_passes(engine: Engine) -> None:
    """Only what the engine's storage cannot do is left out."""
    skipped = [skip.rule for skip in check_backend("docker")]
    assert skipped == ([] if engine.limits_disk else ["disk"])
