"""A package for each task and split: it passes the kit, and no public file contains the test part's targets."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from attrs import evolve
from mle_ext_own_data import folders, writing
from mle_ext_own_data.draft import Draft, Metric, Reading, Split
from mle_ext_own_data.inference import Asked, infer
from mle_ext_own_data.writing import Written, write_competition
from mle_ext_own_data.writing.module import schema_code

import mlecore
from mlecore.data.prepared import Prepared
from mlecore.model import facts
from mlecore.plugins import discovery, entry_points, loading
from mlecore_audit.run import findings
from mlecore_audit.subject import Subject
from mlecore_testing import check_competition
from mlecore_toolkit import ColumnSchema, encode, hex_ids, picture

CONFIG = Path(__file__).parents[4] / "pyproject.toml"
ROWS, LOST = 300, 7
PRICE = 'price "in" €'
METRICS = {
    "label": ("accuracy", "accuracy", "maximize"),
    "ordinal": ("quadratic-weighted-kappa", "quadratic_weighted_kappa", "maximize"),
    "number": ("root-mean-squared-error", "rmse", "minimize"),
    "probability": ("roc-auc", "roc_auc", "maximize"),
    "mean probability": ("mean-roc-auc", "mean_roc_auc", "maximize"),
    "probabilities": ("log-loss", "log_loss", "minimize"),
    "labels": ("mean-f1", "mean_f1", "maximize"),
    "score": ("ndcg", "ndcg", "maximize"),
}


def metric(kind: str) -> Metric:
    name, function, direction = METRICS[kind]
    form: Any = {"ordinal": "label", "mean probability": "probability"}.get(kind, kind)
    return Metric(name=name, function=function, direction=direction, form=form, words=f"The {name}.", formula="Σ")


def table() -> pd.DataFrame:
    """Features with text that CSV and Markdown must quote, and a target of each kind that follows one of them."""
    rng = np.random.RandomState(0)
    x = rng.normal(size=ROWS).round(4)
    level = (x + rng.normal(scale=0.5, size=ROWS)).round(3)
    return pd.DataFrame(
        {
            "x": x,
            "a|b `c`\n": rng.choice(["one, two", 'say "no"', "$name", ""], ROWS),
            "day": pd.date_range("2024-01-01", periods=ROWS).strftime("%d/%m/%Y"),
            "patient": [f"P{number}" for number in rng.randint(0, 40, ROWS)],
            "secret": level,
            PRICE: (1e5 + 1234.5678 * level + np.arange(ROWS) / 50).round(4),
            "churned": np.where(level > 0.3, "yes", "no"),
            "kind": np.where(
                np.arange(ROWS) < LOST, "", np.where(level > 0, "half full", np.where(level > -1, "None", "2"))
            ),
            "grade": pd.cut(level, [-9, -1, 0, 1, 9], labels=False),
            "tags": np.where(level > 0.5, "red;big", np.where(level < -0.5, "blue", "big")),
            "cold": (level < 0).astype(int),
            "wet": (level > 0.2).astype(int),
        }
    )


COLUMNS = (
    ColumnSchema("x", "number", low=-3, high=3),
    ColumnSchema("a|b `c`\n", "category", values=("one, two", 'say "no"', "$name"), missing=0.2),
    ColumnSchema("day", "date", low="2024-01-01", high="2024-10-01", form="%d/%m/%Y"),
    ColumnSchema("patient", "id", prefix="P", low=0, rows_each=7),
    ColumnSchema("secret", "number", low=-3, high=3),
    ColumnSchema(PRICE, "number", low=9e4, high=1.1e5),
    ColumnSchema("churned", "category", values=("no", "yes")),
    ColumnSchema("kind", "category", values=("None", "half full", "2")),
    ColumnSchema("grade", "integer", low=0, high=3),
    ColumnSchema("tags", "category", values=("red;big", "blue"), missing=0.3),
    ColumnSchema("cold", "integer", low=0, high=1),
    ColumnSchema("wet", "integer", low=0, high=1),
)
TARGETS = (PRICE, "churned", "kind", "grade", "tags", "cold", "wet")


def draft(folder: Path, targets: tuple[str, ...], **more: Any) -> Draft:
    """A draft of the table's features and these targets."""
    others = [name for name in TARGETS if name not in targets]
    path = folder / "own.csv"
    if not path.exists():
        table().drop(columns=others).to_csv(path, index=False)
    values: dict[str, Any] = {
        "name": "my-own",
        "title": "My Own",
        "table": path,
        "reading": Reading(kind="csv"),
        "files": None,
        "file_column": None,
        "file_suffix": "",
        "modality": "tabular",
        "id": None,
        "targets": targets,
        "delimiter": None,
        "task": "regression",
        "classes": (),
        "numeric_classes": False,
        "positive": None,
        "metric": metric("number"),
        "split": Split(by="random", column=None, test_size=0.25),
        "group": None,
        "time": None,
        "time_form": None,
        "drop": ("secret",),
        "rows": ROWS,
        "left_out": 0,
        "columns": tuple(column for column in COLUMNS if column.name not in others),
        "reasons": {},
    }
    return Draft(**(values | more))


CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "regression": ((PRICE,), {}),
    "several numbers": ((PRICE, "grade"), {}),
    "binary": (
        ("churned",),
        {
            "task": "binary",
            "classes": ("no", "yes"),
            "positive": "yes",
            "metric": metric("probability"),
            "split": Split(by="stratified", column="churned", test_size=0.2),
        },
    ),
    "multi-class": (
        ("kind",),
        {
            "task": "multi-class",
            "classes": ("2", "None", "half full"),
            "left_out": LOST,
            "metric": metric("probabilities"),
        },
    ),
    "labels that look like gaps": (
        ("kind",),
        {"task": "multi-class", "classes": ("2", "None", "half full"), "left_out": LOST, "metric": metric("label")},
    ),
    "text labels by group": (
        ("churned",),
        {
            "task": "binary",
            "classes": ("no", "yes"),
            "metric": metric("label"),
            "group": "patient",
            "drop": ("secret", "patient"),  # agents do not see the groups
            "split": Split(by="group", column="patient", test_size=0.25),
        },
    ),
    "ordinal by time": (
        ("grade",),
        {
            "task": "ordinal",
            "classes": ("0", "1", "2", "3"),
            "numeric_classes": True,
            "metric": metric("ordinal"),
            "time": "day",
            "time_form": "%d/%m/%Y",
            "split": Split(by="time", column="day", test_size=0.25),
        },
    ),
    "multi-label": (("cold", "wet"), {"task": "multi-label", "metric": metric("mean probability")}),
    "list of labels": (
        ("tags",),
        {"task": "multi-label", "classes": ("big", "blue", "red"), "delimiter": ";", "metric": metric("labels")},
    ),
    "ranking": (
        ("grade",),
        {
            "task": "ranking",
            "metric": metric("score"),
            "group": "patient",
            "split": Split(by="group", column="patient", test_size=0.25),
        },
    ),
}

Install = Callable[[Written], mlecore.Competition]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Use a written package from its folder, as an editable install does."""
    modules = []

    def put(written: Written) -> mlecore.Competition:
        package = written.package
        info = written.folder / f"{package.module}-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.distribution}\nVersion: 0.1.0\n\n")
        (info / "entry_points.txt").write_text(f"[mlecore.competitions]\n{package.name} = {package.module}\n")
        monkeypatch.syspath_prepend(str(written.folder))
        modules.append(package.module)
        forget()
        return mlecore.competition(package.name)

    yield put
    for name in list(sys.modules):
        if name.partition(".")[0] in modules:
            del sys.modules[name]
    monkeypatch.undo()
    forget()


def forget() -> None:
    found = (
        discovery._points,
        discovery._of_kind,
        discovery.find,
        loading.load,
        entry_points.spec_of,
        facts.read_facts,
    )
    for cache in found:
        cache.cache_clear()


def prepared(competition: mlecore.Competition, folder: Path) -> tuple[Path, Path]:
    """(public, private) of the real data."""
    raw, public, private = (folder / name for name in ("raw", "public", "private"))
    for made in (raw, public, private):
        made.mkdir(parents=True)
    competition.fetch(raw)
    competition.prepare(raw, public, private)
    return public, private


@pytest.mark.parametrize("case", CASES)
def test_a_package_of_each_task_works_and_keeps_its_answers(case: str, install: Install, tmp_path: Path) -> None:
    targets, more = CASES[case]
    written = write_competition(draft(tmp_path, targets, **more), tmp_path / "packages")
    assert written.notes == ()
    for words in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *words, "--config", str(CONFIG), str(written.folder)]
        done = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    competition = install(written)
    check_competition(competition, short=True)
    public, private = prepared(competition, tmp_path / "real")
    perfect = competition.grade(private / "test.csv", private, public)
    sample = competition.grade(public / "sample_submission.csv", private, public)
    assert competition.facts.better(perfect, sample)
    assert math.isclose(perfect, {"minimize": 0, "maximize": 1}[competition.facts.direction], abs_tol=1e-9)
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    dropped = {*more.get("drop", ["secret"])}
    assert not {*targets, *dropped} & {*test} and not dropped & {*train}
    answers = pd.read_csv(private / "test.csv")
    assert len(train) + len(test) == ROWS - more.get("left_out", 0) and len(answers) == len(test)
    if targets == (PRICE,):  # each price is unique: no public file has one of the test part
        texts = "".join(
            path.read_text(errors="replace")
            for path in [*public.rglob("*"), *written.folder.rglob("*.*")]
            if path.is_file()
        )
        assert not [price for price in answers[PRICE].astype(str) if price in texts]


def with_files(folder: Path, *, table: bool) -> Draft:
    """Pictures whose folders name the class, with or without a table."""
    (folder / "scans").mkdir()
    rows = []
    for number in range(60):
        label = ("cat", "dog")[number % 2]
        name = f"{label}/{number:02}.png"
        (folder / "scans" / label).mkdir(exist_ok=True)
        (folder / "scans" / name).write_bytes(encode(picture(np.random.RandomState(number), number % 2), "PNG"))
        rows.append((name, label))
    pd.DataFrame(rows, columns=["file", "class"]).to_csv(folder / "own.csv", index=False)
    columns = (
        ColumnSchema("file", "file", suffix=".png"),
        ColumnSchema("class", "category", values=("cat", "dog")),
    )
    more = {} if table else {"table": None, "reading": Reading(kind="folders")}
    return draft(
        folder,
        ("class",),
        files=folder / "scans",
        file_column="file",
        modality="image",
        task="binary",
        classes=("cat", "dog"),
        metric=metric("label"),
        columns=columns,
        drop=(),
        **more,
    )


@pytest.mark.parametrize("table", [True, False])
def test_files_get_names_that_do_not_tell_their_class(table: bool, install: Install, tmp_path: Path) -> None:
    written = write_competition(with_files(tmp_path, table=table), tmp_path / "packages")
    competition = install(written)
    check_competition(competition, short=True)
    public, private = prepared(competition, tmp_path / "real")
    train, test, answers = (
        pd.read_csv(path) for path in (public / "train.csv", public / "test.csv", private / "test.csv")
    )
    assert len(train) + len(test) == 60
    for part, folder in ((train, "train"), (test.merge(answers), "test")):
        assert sorted(part["file"]) == sorted(path.name for path in (public / folder).iterdir())
        for row in part.itertuples():
            names = [f"scans/{row[-1]}/{number:02}.png" for number in range(60)]
            data = (public / folder / row.file).read_bytes()
            assert data in [(tmp_path / name).read_bytes() for name in names if (tmp_path / name).exists()]
    assert not any(word in name for word in ("cat", "dog") for name in [*train["file"], *test["file"]])


def test_ids_are_kept_unless_they_follow_the_target(tmp_path: Path) -> None:
    frame = table()[["x", "churned"]].sort_values("churned", kind="stable")
    frame.insert(0, "number", range(1, ROWS + 1))
    frame.insert(1, "code", hex_ids(ROWS, 8))
    frame.to_csv(tmp_path / "own.csv", index=False)
    columns = (ColumnSchema("number", "id", low=1), ColumnSchema("code", "id"), COLUMNS[0], COLUMNS[6])
    more = {"task": "binary", "classes": ("no", "yes"), "metric": metric("label"), "columns": columns, "drop": ()}
    kept = write_competition(draft(tmp_path, ("churned",), id="code", **more), tmp_path / "kept")
    assert kept.notes == () and 'id = "code"' in (kept.folder / kept.package.module / "competition.toml").read_text()
    replaced = write_competition(draft(tmp_path, ("churned",), id="number", **more), tmp_path / "replaced")
    (note,) = replaced.notes
    assert "number follows churned" in note
    assert 'drop("number")' in (replaced.folder / replaced.package.module / "__init__.py").read_text()


def test_raw_data_stay_where_they_are_or_become_part_of_the_package(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = draft(tmp_path, (PRICE,))
    written = write_competition(own, tmp_path / "packages")
    subprocess.run(["git", "init", "-q", str(written.folder)], check=True)
    listed = subprocess.run(
        ["git", "-C", str(written.folder), "ls-files", "-o", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "competition.toml" in listed and "raw_data" not in listed
    committed = [written.folder / name for name in listed.splitlines()]
    assert not [path for path in committed if str(tmp_path) in path.read_text()]
    competition = install(written)
    shutil.move(tmp_path / "own.csv", tmp_path / "elsewhere.csv")
    with pytest.raises(mlecore.MlecoreError, match=r"not on this machine: own\.csv"):
        prepared(competition, tmp_path / "real")
    shutil.move(tmp_path / "elsewhere.csv", tmp_path / "own.csv")
    monkeypatch.setattr(writing, "_LARGE", 1000)
    included = write_competition(evolve(own, name="my-other"), tmp_path / "packages", include_data=True)
    (note,) = included.notes
    assert "too much for git" in note
    (tmp_path / "own.csv").unlink()
    prepared(install(included), tmp_path / "included")


def test_nothing_is_written_over_and_nothing_is_left_of_a_failure(tmp_path: Path) -> None:
    own = draft(tmp_path, (PRICE,))
    write_competition(own, tmp_path / "packages")
    with pytest.raises(mlecore.MlecoreError, match="already exists"):
        write_competition(own, tmp_path / "packages")
    with pytest.raises(mlecore.MlecoreError, match="cannot split"):
        write_competition(
            evolve(own, name="other", split=Split(by="time", column="x", test_size=0.2), time="a|b `c`\n"),
            tmp_path / "packages",
        )
    assert [path.name for path in (tmp_path / "packages").iterdir()] == ["mle-comp-my-own"]


def test_a_schema_of_ten_thousand_columns_is_short() -> None:
    """A module has a limit of size, above which a plugin counts as broken."""
    names = [f'c "{number}"' for number in range(10_000)]
    columns = [
        ColumnSchema("y", "boolean", target=True),
        *(ColumnSchema(name, "number", low=0, high=1) for name in names),
    ]
    code = schema_code(columns)
    scope: dict[str, Any] = {"ColumnSchema": ColumnSchema}
    exec(code, scope)
    assert scope["SCHEMA"] == columns
    assert max(map(len, code.split("\n"))) <= 120 and len(code) < 200_000


def breast_cancer() -> pd.DataFrame:
    datasets = pytest.importorskip("sklearn.datasets")
    return datasets.load_breast_cancer(as_frame=True).frame


def with_groups(rng: np.random.Generator) -> pd.DataFrame:
    """Ten samples of each patient, all of them ill or well."""
    frame = breast_cancer()
    patient = np.arange(len(frame)) // 10
    mixed = frame.assign(target=frame["target"].sample(frac=1, random_state=0).to_numpy()[patient], patient=patient)
    return mixed.sample(frac=1, random_state=1)


PLANTED: dict[str, tuple[Callable[[np.random.Generator], pd.DataFrame], str, str, str | None]] = {
    "clean": (lambda rng: breast_cancer(), "answers", "", None),
    "duplicates": (
        lambda rng: pd.concat([breast_cancer(), breast_cancer().sample(250, random_state=0)]).assign(
            record=lambda frame: rng.permutation(len(frame))
        ),
        "twins",
        "have the same values",
        "keep one of each",
    ),
    "a column that tells": (
        lambda rng: breast_cancer().assign(paid=lambda frame: frame["target"] * 3 + rng.normal(size=len(frame)) * 0.5),
        "answers",
        "'paid' alone tells 'target'",
        "--drop paid",
    ),
    "groups": (with_groups, "groups", "column 'patient' has", "--group patient"),
}


@pytest.mark.slow
@pytest.mark.parametrize("leak", PLANTED)
def test_a_planted_leak_is_named_and_a_clean_table_has_none(leak: str, install: Install, tmp_path: Path) -> None:
    plant, check, words, fix = PLANTED[leak]
    path = tmp_path / "cells.csv"
    plant(np.random.default_rng(0)).to_csv(path, index=False)
    asked = Asked(name="my-own", title="My Own", targets=("target",))
    written = write_competition(infer(folders.read(path, None), asked), tmp_path / "packages")
    competition = install(written)
    prepared(competition, tmp_path / "real")
    data = Prepared(competition="my-own", synthetic=False, root=tmp_path / "real")
    found = list(findings(Subject(competition, data), check))
    assert all(each.level == "note" for each in found) == (leak == "clean"), found
    if fix is not None:
        assert any(words in each.evidence and fix in (each.fix or "") for each in found), found
