"""What these tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from mle_detector_dolos import installing

from mlecore.errors import MlecoreError

sys.path.insert(0, str(Path(__file__).parent))  # for judged_runs and tutorials


@pytest.fixture(scope="session")
def dolos() -> None:
    try:
        installing.installed()
    except MlecoreError as error:
        pytest.skip(str(error))
