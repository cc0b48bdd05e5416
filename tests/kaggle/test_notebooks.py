"""The notebooks that the detector dolos compares with, fetched by the real client."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mle_detector_dolos import detector, notebooks
from mle_detector_dolos.judging import judge

from mlecore.data.kaggle.errors import KaggleUnreachable
from mlecore.model.options import resolve
from mlecore_testing.records import a_run


@pytest.fixture
def cache(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MLECORE_DOLOS", str(home / "dolos"))
    return home / "dolos" / "notebooks" / "ships"


def source(code: str) -> str:
    return json.dumps(
        {"cells": [{"cell_type": "markdown", "source": "# Ships"}, {"cell_type": "code", "source": code}]}
    )


@pytest.fixture
def published(kaggle: Any, notebook: Any, token: None) -> Any:
    """Forty-two in Python, the least popular ones first; one is gone, one has a name that the client does not take, one
    is a script. The most popular is in R."""
    ships = kaggle.notebooks["ships"]
    ships += [notebook(f"user/note{n}", source(f"x = {n}"), votes=100 - n, gone=n == 3) for n in reversed(range(40))]
    ships += [notebook("user/eda", source("x = 0"), votes=98), notebook("user/in-r", "x <- 1", votes=999, language="r")]
    ships += [notebook("ada/script", "y = 1\n", votes=500, kind="script")]
    kaggle.notebooks["planes"] += [notebook("user/plane", source("z = 1"), votes=1000)]
    return kaggle


def test_the_most_voted_are_fetched_once(published: Any, cache: Path) -> None:
    assert notebooks.fetch_notebooks("ships", 30) == cache
    listed = json.loads((cache / notebooks.LIST).read_text())["notebooks"]
    assert listed[:2] == [
        {"ref": "ada/script", "title": "Title of script", "votes": 500},
        {"ref": "user/note0", "title": "Title of note0", "votes": 100},
    ]
    assert len(listed) == 30 and published.count("GetKernel") == 29
    assert len(list(cache.glob("*.py"))) == 28 and not (cache / "user--note3.py").exists()
    assert (cache / "user--note5.py").read_text() == "# # Ships\n\nx = 5\n"
    assert (cache / "ada--script.py").read_text() == "y = 1\n"
    asked = len(published.requests)
    notebooks.fetch_notebooks("ships", 30)
    assert len(published.requests) == asked
    notebooks.fetch_notebooks("ships", 50)
    assert len(list(cache.glob("*.py"))) == 40


def test_what_is_there_is_not_fetched_again_after_a_failure(
    published: Any, cache: Path, fault: Any, quick: list[float]
) -> None:
    published.faults["GetKernel"] = [fault(stall=0.001), *[fault(503)] * 99]
    with pytest.raises(KaggleUnreachable, match="fetching the notebook user/note0"):
        notebooks.fetch_notebooks("ships", 5)
    published.faults["GetKernel"] = []
    asked = [slug for what, slug, _ in published.requests if what == "GetKernel"]
    notebooks.fetch_notebooks("ships", 5)
    again = [slug for what, slug, _ in published.requests if what == "GetKernel"][len(asked) :]
    assert again == ["note0", "note1", "note2"]


def test_no_login_is_undecided(kaggle: Any, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "main.py").write_text("x = 1\n")
    run = a_run(tmp_path, competition="ships")
    competition: Any = SimpleNamespace(id="ships", facts=SimpleNamespace(kaggle="ships"))
    [finding] = judge(run, [run], competition, None, resolve(detector().options, {}, "dolos")).findings
    assert finding.verdict == "undecided" and "no valid Kaggle login" in finding.summary
