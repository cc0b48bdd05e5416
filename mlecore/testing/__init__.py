"""The conformance kit: one call puts a plugin through its paces, and names every rule that it breaks.

A plugin's tests need one line::

    from mlecore.testing import check_competition

    def test_conformance():
        check_competition("spaceship-titanic")
"""

from __future__ import annotations

from mlecore.testing.agents import check_agent
from mlecore.testing.backends import check_backend
from mlecore.testing.competitions import check_competition
from mlecore.testing.detectors import check_detector
from mlecore.testing.rules import ConformanceError, Skipped

__all__ = ["ConformanceError", "Skipped", "check_agent", "check_backend", "check_competition", "check_detector"]
