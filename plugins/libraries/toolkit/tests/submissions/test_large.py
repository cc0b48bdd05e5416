"""Large submissions and answers give what small ones give: only how they are read differs."""

import random
from pathlib import Path

import pytest
from pandas import DataFrame

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.fast_csv import frames, parsing, reading
from mlecore_toolkit.submissions import large
from mlecore_toolkit.submissions.format import Format
from mlecore_toolkit.submissions.table import Table

NUMBER = {"type": "number", "missing": True}
FORMATS = [
    {"id": "id", "columns": {"p": NUMBER}},
    {"id": "id", "columns": {"p": {"type": "text", "missing": True}}},
    {"id": "id", "columns": {"p": {"type": "any", "verbatim": True}}},
    {"id": "id", "ids": "set", "rows": "any", "columns": {"p": {"type": "any"}}},
    {"id": "id", "extra": "refused", "columns": {"p": {"type": "label"}}},
]
CELLS = ["0.5", "1", "-0", "", "NA", "abc", '"a, b"', "True", " ", '"         "', "1e400", "007", "9" * 20, "é"]


@pytest.fixture
def always_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "POLARS_FROM_BYTES", 0)
    monkeypatch.setattr(parsing, "_SAMPLES", (100, 300))
    monkeypatch.setattr(reading, "_AT_ONCE", 1000)


def written(folder: Path, name: str, rows: list[list[str]]) -> Path:
    path = folder / name
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    return path


def outcome(format: Format, submission: Path, answers: Path) -> tuple[str, list[object]]:
    try:
        truth, predictions = format.read(Table(submission), answers)
    except InvalidSubmission as error:
        return error.message, []
    pairs = [table[name] for table in (truth, predictions) for name in ("id", "p")]
    return "", [(str(cells.dtype), list(map(repr, cells.tolist()))) for cells in pairs]


def table(rng: random.Random, ids: list[str]) -> list[list[str]]:
    """A submission with what happens to submissions."""
    ids = rng.sample(ids, len(ids)) if rng.random() < 0.5 else list(ids)
    usual = rng.choice(["0.25", "3", "text", ""])
    width = rng.choice([0, 0, 1, 3])
    rows = [["id", "p", *[f"more{k}" for k in range(width)]]]
    rows += [[id, usual, *rng.choices(["1", "x", ""], k=width)] for id in ids]
    for _ in range(rng.choice([0, 1, 3])):
        rows[rng.randrange(1, len(rows))][1] = rng.choice(CELLS)
    change = rng.choice(["", "", "long", "short", "again", "less", "other"])
    row = rng.randrange(1, len(rows))
    if change == "long":
        rows[row].append("z")
    elif change == "short":
        rows[row].pop()
    elif change == "again":
        rows[row][0] = rng.choice(ids)
    elif change == "less":
        del rows[row]
    elif change == "other":
        rows[row][0] = rng.choice(CELLS)
    return rows


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 60))])
def test_random_submissions(seed, tmp_path, request):
    rng = random.Random(seed)
    ids = [f"{'' if seed % 3 else 'a-long-prefix-'}{number}" for number in rng.sample(range(10**6), 120)]
    answers = written(tmp_path, "answers.csv", [["id", "p", "q"], *([id, rng.choice("123"), "x"] for id in ids)])
    tables = [written(tmp_path, f"{number}.csv", table(rng, ids)) for number in range(5)]
    formats = [Format.parse(keys) for keys in FORMATS]
    small = [outcome(format, path, answers) for format in formats for path in tables]
    request.getfixturevalue("always_large")
    assert [outcome(format, path, answers) for format in formats for path in tables] == small


def test_only_needed_columns_are_kept(always_large, tmp_path):
    path = written(tmp_path, "submission.csv", [["q", "id", "p"], ["1", "a", "0.5"], ["1", "b", "0.5"]])
    assert list(Table(path).columns(["p", "id"]).columns) == ["id", "p"]
    assert list(Table(path).columns().columns) == ["q", "id", "p"]
    longer = written(tmp_path, "longer.csv", [["q", "id", "p"], ["1", "a", "0.5", "2"], ["1", "b", "0.5"]])
    assert repr(Table(longer).columns(["p", "id"])["p"]) == repr(Table(longer).frame()["p"])  # as pandas shifts them


def test_columns_are_read_once(always_large, tmp_path, monkeypatch):
    table = Table(written(tmp_path, "submission.csv", [["q", "id", "p"], ["1", "a", "0.5"], ["1", "b", "0.5"]]))
    some = table.columns(["p", "id"])
    monkeypatch.setattr(large, "read", None)
    assert table.columns(["p"]) is some


def test_cells_as_they_are_written(always_large, tmp_path, monkeypatch):
    cells = ["007", "", "NA", "1.0", "TRUE"]
    path = written(
        tmp_path, "submission.csv", [["id", "p", "q"], *([str(n), cell, "1"] for n, cell in enumerate(cells))]
    )

    def pandas_must_not(*_: object, **__: object) -> DataFrame:
        raise AssertionError("read by pandas")

    monkeypatch.setattr(Table, "_read", pandas_must_not)
    assert Table(path).columns(["id", "p"], verbatim=["p"])["p"].tolist() == cells
    assert Table(path).column_text("p").tolist() == cells


@pytest.mark.parametrize(
    "first", ["\n", " \n", "", '"x\ny",q\n', "\ufeff", f"{'n' * 70_000},p\n", "p,p\n", "p\n", ",\n"]
)
def test_first_lines(first, always_large, tmp_path, monkeypatch):
    path = tmp_path / "submission.csv"
    path.write_text(f"{first}id,p\na,1\nb,2\n" + "c,3\n" * 40)
    large_frame = Table(path).columns()
    monkeypatch.setattr(frames, "POLARS_FROM_BYTES", 1 << 40)
    assert large_frame.to_csv() == Table(path).frame().to_csv()


@pytest.mark.parametrize("name", ["^p$", "^.*$", "*"])
def test_a_column_may_be_named_like_a_pattern(name, tmp_path, always_large):
    path = written(
        tmp_path, "submission.csv", [["id", "p", name], ["a", "1", "0.5"], ["b", "NA", ""], ["c", "2", "NA"]]
    )
    frame = Table(path).frame()
    assert frame["p"].fillna(0).tolist() == [1, 0, 2]
    assert frame[name].fillna(0).tolist() == [0.5, 0, 0]
