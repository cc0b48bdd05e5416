"""An endpoint with a real model, on this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for ngram

import ngram

from mlecore_testing.http_server import serving


@pytest.fixture
def bigrams() -> type:
    return ngram.Bigrams


@pytest.fixture
def server() -> Iterator[object]:
    with serving(ngram.Server()) as server:
        yield server
