"""The conformance kit: one call checks a plugin against all rules, and names every rule that it breaks.

A competition's package needs no test for that: the pytest plugin (``mlecore_testing.pytest_plugin``, which this package
installs) collects its ``competition.toml``, and gives its tests the fixtures ``trial`` and ``answers``.
Other plugins need one line::

    from mlecore_testing import check_agent

    def test_conformance():
        check_agent("baseline")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlecore.lazy import lazy_names

if TYPE_CHECKING:
    from mlecore_testing.agents import check_agent
    from mlecore_testing.agents.scripted import ScriptedRun, scripted_run
    from mlecore_testing.backends import check_backend
    from mlecore_testing.competitions import check_competition
    from mlecore_testing.detectors import check_detector
    from mlecore_testing.rules import ConformanceError, Skipped
    from mlecore_testing.trial import Trial

__all__ = [
    "ConformanceError",
    "ScriptedRun",
    "Skipped",
    "Trial",
    "check_agent",
    "check_backend",
    "check_competition",
    "check_detector",
    "scripted_run",
]

# Every pytest run imports this package, for its pytest plugin.
__getattr__ = lazy_names(
    __name__,
    {
        "ConformanceError": "mlecore_testing.rules",
        "ScriptedRun": "mlecore_testing.agents.scripted",
        "Skipped": "mlecore_testing.rules",
        "Trial": "mlecore_testing.trial",
        "check_agent": "mlecore_testing.agents",
        "check_backend": "mlecore_testing.backends",
        "check_competition": "mlecore_testing.competitions",
        "check_detector": "mlecore_testing.detectors",
        "scripted_run": "mlecore_testing.agents.scripted",
    },
)
