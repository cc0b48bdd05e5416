"""Listing stays cheap: what it reads and imports is bounded. (Seconds are measured in benchmarks/startup.py.)"""

from __future__ import annotations

import json
import subprocess
import sys

SEEN = """
import contextlib, io, json, sys
from mlecore.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    with contextlib.suppress(SystemExit):
        main(sys.argv[1:])
print(json.dumps(sorted(sys.modules)))
"""
HEAVY = {"pandas", "numpy", "sklearn", "scipy", "polars", "docker", "kubernetes", "kaggle", "requests"}


def modules(*words: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", SEEN, *words], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_nothing_heavy_is_imported() -> None:
    """Nor does `plugins list`: see test_listing.py."""
    assert not HEAVY & modules("competitions", "list")
    light = {"attr", "pluggy", "tomllib", "rich", "packaging"}
    assert not (HEAVY | light) & modules("--help")
