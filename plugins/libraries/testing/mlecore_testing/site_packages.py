"""Plugins that a test installs for itself: their metadata, as an installer leaves it, on the import path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlecore.model import facts
from mlecore.plugins import discovery, entry_points, loading

_CACHES = (
    discovery._points,
    discovery._of_kind,
    discovery.find,
    loading.load,
    loading.load_extensions,
    entry_points.points,
    entry_points.spec_of,
    facts.read_facts,
)


def forget() -> None:
    """Make this process look for plugins anew: what is installed, or its files, have changed."""
    for cache in _CACHES:
        cache.cache_clear()


def declare(site: Path, distribution: str, points: str, version: str = "0.1.0", headers: str = "") -> None:
    """Write a distribution's metadata below ``site``; ``points``: its entry_points.txt, ``headers``: more metadata."""
    info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    (info / "METADATA").write_text(f"{head}{headers}\nA long README: with a colon\n")
    (info / "entry_points.txt").write_text(points)


@pytest.fixture
def site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder on the import path; after the test nothing that was imported from it is left."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    before = {*sys.modules}
    forget()
    yield site
    for name in {*sys.modules} - before:
        module = sys.modules[name]
        places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
        if any(str(place).startswith(str(tmp_path)) for place in places):
            del sys.modules[name]
    monkeypatch.undo()
    forget()
