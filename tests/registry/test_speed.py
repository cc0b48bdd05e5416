"""Listing stays cheap: what it reads and imports is bounded. (Seconds are measured in benchmarks/listing.py.)"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

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


@pytest.mark.parametrize("words", [["--help"], ["plugins", "list"], ["competitions", "list"]])
def test_nothing_heavy_is_imported(words):
    assert not HEAVY & modules(*words)


def test_help_imports_hardly_more_than_click():
    assert not {"attr", "pluggy", "importlib.metadata", "email", "tomllib", "rich"} & modules("--help")
