"""Whatever a notebook gives to mlecore: what is wrong with it is a MlecoreError, never a bare traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mle_ext_report
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import mlecore
from mlecore.cli import main
from mlecore.controller.loop import Controller
from mlecore.runs.arguments import Arguments

FRAMES = (pd.DataFrame(), pl.DataFrame(), pd.DataFrame({"id": [1]}))
ODD = (3, 1.5, "", ".", "nosuch", b"x", [], {}, ("a",), Path("nosuch"), object(), True, "\0", "a/b", "../x", "x" * 5000)
FILES = (Path("folder"), Path("binary"), Path("empty"))
EVERYTHING = (None, *ODD, *FILES, *FRAMES)


class Ended(mlecore.MlecoreError):
    """The run would begin now."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("data")
    done = CliRunner().invoke(main, ["prepare", "optical-digits", "--data", str(folder)])
    assert done.exit_code == 0, done.output
    return mlecore.open_data(mlecore.competition("optical-digits"), folder)


@pytest.fixture
def here(tmp_path: Path, data: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLECORE_DATA", str(data.root.parents[1]))
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "empty").touch()
    return tmp_path


def try_all(call: Callable[[Any], object], values: tuple[object, ...] = EVERYTHING) -> None:
    """Each value works, or is rejected by a MlecoreError that says something."""
    for value in values:
        try:
            call(value)
        except mlecore.MlecoreError as error:
            assert str(error)
        except Exception as error:
            pytest.fail(f"{str(value)[:40]!r} raised {type(error).__name__}: {error}")


def calls(data: Any) -> dict[str, Callable[[Any], object]]:
    digits, sample = mlecore.competition("optical-digits"), data.public / "sample_submission.csv"
    out = Path("out")
    return {
        "competition": mlecore.competition,
        "edition": lambda value: mlecore.competition("optical-digits", value),
        "installed": mlecore.installed,
        "report": mle_ext_report.report,
        "report(runs)": lambda value: mle_ext_report.report("group", runs=value),
        "report(competitions)": lambda value: mle_ext_report.report("group", competitions=value),
        "detect": mlecore.detect,
        "detect(runs)": lambda value: mlecore.detect("group", runs=value),
        "check": lambda value: mlecore.check(digits, value, data.public),
        "check(public)": lambda value: mlecore.check(digits, sample, value),
        "Competition.grade": lambda value: digits.grade(value, data.private),
        "Competition.grade(private)": lambda value: digits.grade(sample, value),
        "Competition.grade(public)": lambda value: digits.grade(sample, data.private, value),
        "grade": lambda value: mlecore.grade(digits, value, data),
        "grade(data)": lambda value: mlecore.grade(digits, sample, value),
        "open_data": lambda value: mlecore.open_data(digits, value),
        "prepare(raw)": lambda value: digits.prepare(value, out, out),
        "prepare(public)": lambda value: digits.prepare(Path("folder"), value, out),
        "perfect": digits.perfect,
    }


def test_competitions_plugins_and_results(here: Path, data: Any) -> None:
    for name, call in calls(data).items():
        try:
            try_all(call)
        except pytest.fail.Exception as failure:
            pytest.fail(f"{name}: {failure}")


@pytest.mark.parametrize("name", [*Arguments.__annotations__, "group", "runs", "data", "plan", "nosuch"])
def test_every_argument_of_run(name: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> None:
        raise Ended("it would begin")

    monkeypatch.setattr(Controller, "run", ended)
    arguments: dict[str, Any] = {"agent": "submissions", "options": {"from": "folder"}, "detect": False}
    arguments["competition"] = "optical-digits"
    for other in {"split": ["competition"], "all": ["competition"], "plan": list(arguments)}.get(name, ()):
        del arguments[other]
    values = (None, *ODD, *FILES) if name in ("group", "runs", "data", "plan") else (3, "", "nosuch", b"x", object())
    try_all(lambda value: mlecore.run(**{**arguments, name: value}), values)


def test_an_argument_that_there_is_none_of_is_named_even_if_it_is_none() -> None:
    with pytest.raises(mlecore.MlecoreError, match="unknown argument 'agnet'"):
        mlecore.run(agnet=None)  # type: ignore[call-arg]


def test_one_data_directory_needs_no_list(data: Any) -> None:
    assert mlecore.open_data(mlecore.competition("optical-digits"), str(data.root.parents[1])).root == data.root
