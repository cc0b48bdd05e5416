"""Lets a test hand the agent a folder of data and get back what it would hand in."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import mle_agent_baseline as plugin
import pandas as pd
import pytest

Attempt = Callable[..., tuple[pd.DataFrame, str]]


@pytest.fixture(scope="session")
def work() -> ModuleType:
    """The worker's module; its neighbours are found as in the sandbox, where they share a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(plugin.WORK))
        return importlib.import_module("work")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "description.md").write_text("A task.")
    return folder


@pytest.fixture
def attempt(work: ModuleType, data: Path, tmp_path: Path) -> Attempt:
    """``attempt(sample, metric)``: the submission made for the data folder, every cell as text, and the note."""

    def run(sample: pd.DataFrame, metric: str, seed: int = 0) -> tuple[pd.DataFrame, str]:
        sample.to_csv(tmp_path / "sample.csv", index=False)
        given = work.as_text(tmp_path / "sample.csv")
        predictions, note = work.predict(data, given, {"metric": metric, "seed": seed})
        work.write(given, predictions, tmp_path / "submission.csv")
        made = work.as_text(tmp_path / "submission.csv")
        assert list(made.columns) == list(given.columns)
        assert len(made) == len(given)
        return made, note

    return run


@pytest.fixture(scope="session")
def png() -> Callable[..., bytes]:
    def draw(array: object, kind: str = "PNG") -> bytes:
        from PIL import Image

        out = io.BytesIO()
        Image.fromarray(array).save(out, kind)  # type: ignore[arg-type]
        return out.getvalue()

    return draw
