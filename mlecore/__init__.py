"""mlecore measures how well AI agents do machine-learning engineering; everything in it is a plugin.

>>> import mlecore
>>> digits = mlecore.competition("optical-digits")       # facts, prepare, check, grade, report
>>> mlecore.run(agent="baseline", competition="optical-digits", seeds=3)
>>> mlecore.plugins("agent")                             # what is installed; imports none of it

Errors: ``mlecore.InvalidSubmission`` (the agent's fault), all others below ``mlecore.MlecoreError``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlecore.lazy import lazy_names

if TYPE_CHECKING:
    from mlecore.api import Competition, competition
    from mlecore.controller.api import run
    from mlecore.detecting.group import detect
    from mlecore.errors import InvalidSubmission, MlecoreError
    from mlecore.hookspecs import hookimpl
    from mlecore.registry.discovery import plugins
    from mlecore.submissions.table import Table

__all__ = [
    "Competition",
    "InvalidSubmission",
    "MlecoreError",
    "Table",
    "competition",
    "detect",
    "hookimpl",
    "plugins",
    "run",
]

_import = lazy_names(
    __name__,
    {
        "Competition": "mlecore.api",
        "InvalidSubmission": "mlecore.errors",
        "MlecoreError": "mlecore.errors",
        "Table": "mlecore.submissions.table",
        "competition": "mlecore.api",
        "detect": "mlecore.detecting.group",
        "hookimpl": "mlecore.hookspecs",
        "plugins": "mlecore.registry.discovery",
        "run": "mlecore.controller.api",
    },
)


def __dir__() -> list[str]:
    """What a notebook completes."""
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("mlecore")
    return _import(name)
