"""An endpoint with a real model, on this machine."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("familiarity_ngram", Path(__file__).with_name("ngram.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_ngram = _load()


@pytest.fixture
def bigrams() -> type:
    return _ngram.Bigrams


@pytest.fixture
def server() -> Iterator[object]:
    with _ngram.serve() as server:
        yield server
