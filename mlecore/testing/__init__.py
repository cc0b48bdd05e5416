"""The conformance kit: one call puts a plugin through its paces, and names every rule that it breaks.

A plugin's tests need one line::

    from mlecore.testing import check_competition

    def test_conformance():
        check_competition("spaceship-titanic")

For a competition's own odd cases, ``Trial`` has its data and grades what a test makes up.
"""

from __future__ import annotations

from mlecore.testing.agents import check_agent
from mlecore.testing.backends import check_backend
from mlecore.testing.competitions import check_competition
from mlecore.testing.detectors import check_detector
from mlecore.testing.rules import ConformanceError, Skipped
from mlecore.testing.trial import Trial

__all__ = [
    "ConformanceError",
    "Skipped",
    "Trial",
    "check_agent",
    "check_backend",
    "check_competition",
    "check_detector",
]
