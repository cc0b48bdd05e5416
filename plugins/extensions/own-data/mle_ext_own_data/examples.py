"""Competitions with data of their own to begin with: points in a ring, pictures, visits of patients."""

from __future__ import annotations

from pathlib import Path

from mlecore_testing.scaffold import Package, checked

_TEMPLATES = Path(__file__).parent / "templates"
_TOOLKIT = "mlecore-toolkit>=0.1"
EXAMPLES = {"tabular": (_TOOLKIT,), "images": (_TOOLKIT, "pillow>=10"), "groups": (_TOOLKIT,)}  # name -> needs


def example(name: str, like: str = "tabular") -> Package:
    """A competition called ``name`` like one of ``EXAMPLES``. Raises UsageError for a name that cannot be one."""
    folders = (_TEMPLATES / "competition", _TEMPLATES / f"competition-{like}")
    return checked(Package("competition", name, folders, "$title: what it asks, in one line", EXAMPLES[like]))
