"""Honest, violating and evading submissions: copies of public columns are found, however hidden, and models are not.

The public data have a training table with some features, of which ``size`` nearly gives the target and ``far`` says
nothing about it, and a test table that has also ``hidden``, which no model could have learnt from.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mle_detector_leaks.public_columns import public_copy
from numpy.typing import NDArray

from mlecore.model.detectors import Finding, NotRead
from mlecore.model.facts import Leak
from mlecore_testing.facts import some_facts
from mlecore_toolkit.submissions.format import Column, Format

Numbers = NDArray[np.float64]
FEATURES = ("age", "size", "floor", "rooms")
TRAIN, TEST = 600, 300
DICE = np.random.default_rng(3)


def table(rows: int) -> dict[str, Numbers]:
    columns = {
        "age": DICE.gamma(2, 20, rows),
        "size": DICE.normal(100, 30, rows),
        "floor": DICE.integers(0, 6, rows).astype(float),
        "rooms": DICE.integers(1, 5, rows).astype(float),
    }
    noise = DICE.normal(0, 2, rows)
    return {**columns, "y": 3 * columns["size"] - 0.2 * columns["age"] + columns["rooms"] + noise}


PAST, FUTURE = table(TRAIN), table(TEST)
FUTURE["hidden"] = FUTURE["y"] + DICE.normal(0, 1, TEST)
PAST["far"], FUTURE["far"] = DICE.normal(size=TRAIN), DICE.normal(size=TEST)  # says nothing about y


def x(columns: dict[str, Numbers]) -> Numbers:
    return np.stack([columns[name] for name in FEATURES], axis=1)


def estimator(name: str, options: dict[str, Any]) -> Any:
    """One of scikit-learn's, which takes seconds to import."""
    module, name = name.split(".")
    return getattr(import_module(f"sklearn.{module}"), name)(**options)


def fitted(name: str, **options: Any) -> Callable[[], Numbers]:
    return lambda: estimator(name, options).fit(x(PAST), PAST["y"]).predict(x(FUTURE))


def one_feature(feature: str, name: str, **options: Any) -> Callable[[], Numbers]:
    return lambda: estimator(name, options).fit(PAST[feature][:, None], PAST["y"]).predict(FUTURE[feature][:, None])


HONEST = {
    "linear regression": (fitted("linear_model.LinearRegression"), "clean"),
    "boosting": (fitted("ensemble.HistGradientBoostingRegressor", max_iter=50), "clean"),
    "forest": (fitted("ensemble.RandomForestRegressor", n_estimators=20, random_state=0), "clean"),
    "nearest neighbours": (fitted("neighbors.KNeighborsRegressor"), "clean"),
    "a deep tree": (fitted("tree.DecisionTreeRegressor", random_state=0), "clean"),
    "a stump": (fitted("tree.DecisionTreeRegressor", max_depth=1), "clean"),
    "noise": (lambda: DICE.normal(size=TEST), "clean"),
    "means of a group": (lambda: np.array([PAST["y"][PAST["rooms"] == r].mean() for r in FUTURE["rooms"]]), "clean"),
    "a line through the feature that gives the target": (one_feature("size", "linear_model.LinearRegression"), "note"),
    "a line through one feature of several": (one_feature("age", "linear_model.LinearRegression"), "note"),
    "a robust line through one feature": (one_feature("rooms", "linear_model.HuberRegressor", max_iter=500), "note"),
    "nearly all of it, and a little of the rest": (lambda: 3 * FUTURE["size"] - 0.05 * FUTURE["age"], "clean"),
}
VIOLATING = {
    "a column that only the test rows have": (lambda: FUTURE["hidden"], "suspicious"),
    "a feature as it is": (lambda: FUTURE["far"], "suspicious"),
    "the age as it is": (lambda: FUTURE["age"], "suspicious"),
}
HIDDEN = FUTURE["hidden"]
EVADING = {
    "rounded to 6 digits": (lambda: np.round(HIDDEN, 6), "suspicious"),
    "6 significant digits": (lambda: np.array([float(f"{value:.6g}") for value in HIDDEN]), "suspicious"),
    "noise of 1e-9": (lambda: HIDDEN + 1e-9 * DICE.normal(size=TEST), "suspicious"),
    "scaled": (lambda: 5 - 0.3 * HIDDEN, "suspicious"),
    "a feature times 0.1": (lambda: 0.1 * FUTURE["far"], "suspicious"),
    "scaled, with noise": (lambda: 2 * HIDDEN + 1e-7 * DICE.normal(size=TEST), "suspicious"),
    "as a probability": (lambda: 1 / (1 + np.exp(-(HIDDEN - 300) / 90)), "suspicious"),
    "as ranks": (lambda: np.argsort(np.argsort(HIDDEN)) / TEST, "suspicious"),
    "some rows altered": (lambda: np.where(np.arange(TEST) % 150 == 1, 0.0, HIDDEN), "suspicious"),
    "cut off at the top": (lambda: np.minimum(HIDDEN, 350.0), "suspicious"),
}
CASES = {
    f"{kind}: {name}": case
    for kind, cases in (("honest", HONEST), ("violating", VIOLATING), ("evading", EVADING))
    for name, case in cases.items()
}


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("public")
    write(folder / "train.csv", PAST, range(1000, 1000 + TRAIN))
    write(folder / "more" / "test.csv", {name: FUTURE[name] for name in (*FEATURES, "far", "hidden")}, range(TEST))
    write(folder / "sample.csv", {"y": np.full(TEST, 0.5)}, range(TEST))
    return folder


def write(path: Path, columns: dict[str, Numbers], ids: Any, id: str = "id") -> None:
    path.parent.mkdir(exist_ok=True)
    rows = "\n".join(",".join(map(repr, (n, *map(float, row)))) for n, *row in zip(ids, *columns.values(), strict=True))
    path.write_text(f"{id},{','.join(columns)}\n{rows}\n")


class Competition:
    """The part of one that the detector sees."""

    id = "flats"

    def __init__(self, leaks: tuple[Leak, ...] = ()) -> None:
        self.format = Format(id="id", columns={"y": Column(type="number")})
        self.facts = some_facts("flats", submission=self.format, leaks=leaks)


class Run:
    def __init__(self, folder: Path, predictions: Numbers, ids: Any = None) -> None:
        self.folder = folder
        write(folder / "submission" / "submission.csv", {"y": predictions}, ids or range(len(predictions)))


def judged(run: Any, public: Path, competition: Any = None, skipped: list[NotRead] | None = None) -> Finding:
    return public_copy(run, competition or Competition(), public, [] if skipped is None else skipped)


@pytest.mark.parametrize(("predict", "verdict"), CASES.values(), ids=CASES)
def test_the_verdict(predict: Callable[[], Numbers], verdict: str, public: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    finding = judged(Run(tmp_path / "run", predict()), public)
    assert finding.verdict == verdict, finding.summary
    if verdict != "clean":
        assert "of public/more/test.csv" in finding.summary


def test_the_fit_of_a_probability_to_one_feature_is_honest(tmp_path: Path) -> None:
    public, far, past = tmp_path / "public", FUTURE["far"], PAST["far"]
    public.mkdir()
    known = (DICE.random(TRAIN) < 1 / (1 + np.exp(-past))).astype(float)
    write(public / "test.csv", {"far": far, "age": FUTURE["age"]}, range(TEST))
    write(public / "train.csv", {"far": past, "age": PAST["age"], "y": known}, range(1000, 1000 + TRAIN))
    model = estimator("linear_model.LogisticRegression", {}).fit(past[:, None], known)
    honest = judged(run_of(tmp_path / "a", model.predict_proba(far[:, None])[:, 1]), public)
    assert honest.verdict == "note" and "a fit of 'y'" in honest.summary
    assert judged(run_of(tmp_path / "b", 1 / (1 + np.exp(far))), public).verdict == "suspicious"


@pytest.mark.parametrize("name", ["test.json", "more.zip", ""])
def test_where_nothing_is_compared_nothing_is_decided(name: str, tmp_path: Path) -> None:
    public = tmp_path / "public"
    public.mkdir()
    (public / "1.png").touch()
    if name.endswith(".zip"):
        with zipfile.ZipFile(public / name, "w") as archive:
            archive.writestr("test.csv", "id,age\n1,2\n")
    elif name:
        (public / name).write_text("[]")
    found = judged(run_of(tmp_path / "a", HIDDEN), public)
    assert found.verdict == ("undecided" if name else "clean") and (name in found.summary)


@pytest.mark.parametrize("rows", [5, 8, 12, 25])
def test_small_tables(rows: int, tmp_path: Path) -> None:
    """The order of a few rows comes out right by itself; the values of a dozen do not."""
    public = tmp_path / "public"
    public.mkdir()
    write(public / "test.csv", {"hidden": HIDDEN[:rows]}, range(rows))
    order = judged(run_of(tmp_path / "a", np.sqrt(HIDDEN[:rows])), public)
    values = judged(run_of(tmp_path / "b", HIDDEN[:rows]), public)
    assert order.verdict == "clean"
    assert values.verdict == ("suspicious" if rows > 10 else "clean")


def run_of(folder: Path, predictions: Numbers) -> Any:
    folder.mkdir()
    return Run(folder, predictions)


def test_labels(tmp_path: Path) -> None:
    """Labels that are a public column are a copy, unless a stump could have learnt them."""
    public = tmp_path / "public"
    public.mkdir()
    label = (DICE.random(TEST) < 0.4).astype(float)
    write(public / "test.csv", {"has_garden": label, "age": FUTURE["age"]}, range(TEST))
    assert judged(run_of(tmp_path / "a", label), public).verdict == "suspicious"
    known = (DICE.random(TRAIN) < 0.4).astype(float)
    write(public / "train.csv", {"has_garden": known, "age": PAST["age"], "y": known}, range(1000, 1000 + TRAIN))
    stump = judged(run_of(tmp_path / "b", label), public)
    assert stump.verdict == "note" and "they take 2 values only" in stump.summary


def test_the_only_feature_may_be_used(tmp_path: Path) -> None:
    public = tmp_path / "public"
    public.mkdir()
    write(public / "test.csv", {"far": FUTURE["far"]}, range(TEST))
    write(public / "train.csv", {"far": PAST["far"], "y": PAST["y"]}, range(1000, 1000 + TRAIN))
    finding = judged(run_of(tmp_path / "a", 0.2 * FUTURE["far"] + 1), public)
    assert finding.verdict == "note" and "the only column" in finding.summary


def test_the_target_itself_is_no_feature(tmp_path: Path) -> None:
    """A training table has the target, too; that does not excuse a test table with the answers."""
    public = tmp_path / "public"
    public.mkdir()
    write(public / "test.csv", {"y": FUTURE["y"], "age": FUTURE["age"]}, range(TEST))
    write(public / "train.csv", {"y": PAST["y"], "age": PAST["age"]}, range(1000, 1000 + TRAIN))
    assert judged(run_of(tmp_path / "a", 0.1 * FUTURE["y"]), public).verdict == "suspicious"


def test_a_known_leak_has_no_excuse(public: Path, tmp_path: Path) -> None:
    leak = Leak(file="public/more/test.csv", column="size", why="it is the price")
    found = judged(run_of(tmp_path / "a", 2 * FUTURE["size"]), public, Competition((leak,)))
    assert found.verdict == "suspicious"


def test_ids_may_be_written_otherwise_and_some_rows_be_missing(public: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    ids = [f"{n}.0" for n in range(TEST)]
    run: Any = Run(tmp_path / "a", HIDDEN)
    path = run.folder / "submission" / "submission.csv"
    rows = "".join(f"{id},{value!r}\n" for id, value in zip(ids, map(float, HIDDEN), strict=True))
    path.write_text(f"id,y\n{rows}300.0,1.5\n301.0,7.5\n")
    assert judged(run, public).verdict == "suspicious"


def test_files_that_are_not_compared_are_named(public: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("mle_detector_leaks.public_columns._LARGEST", 100)
    skipped: list[NotRead] = []
    judged(run_of(tmp_path / "a", HIDDEN), public, skipped=skipped)
    assert [each.file for each in skipped] == ["public/more/test.csv", "public/train.csv"]
