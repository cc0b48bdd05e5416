"""The [submission] table is read strictly, and the generic check refuses and warns as it says."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore.errors import DataError, InvalidSubmission, PluginError
from mlecore_toolkit.submissions.check import read_sample, warnings
from mlecore_toolkit.submissions.format import Column, Format
from mlecore_toolkit.submissions.table import Table

NUMBER = {"type": "number", "low": 0, "high": 1}
SAMPLE = "id,p\na,0.5\nb,0.5\nc,0.5\n"


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., list[str]]:
    """Checks CSV text against a ``[submission]`` table and a sample."""

    def run(text: str, table: dict, sample: str = SAMPLE) -> list[str]:
        (tmp_path / "submission.csv").write_text(text)
        (tmp_path / "sample.csv").write_text(sample)
        format, given, asked = Format.parse(table), Table(tmp_path / "submission.csv"), Table(tmp_path / "sample.csv")
        format.read(given, read_sample(format, asked))
        return warnings(format, given, asked)

    return run


def form(**keys: object) -> dict:
    return {"id": "id", "columns": {"p": NUMBER}, **keys}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id;p\na;0.5\n", "its cells are separated by semicolons; expected commas"),
        ("id\tp\na\t0.5\n", "its cells are separated by tabs; expected commas"),
        ("a,0.5\nb,0.5\nc,0.5\n", "its first line must name the columns"),
        ("id,p\na,0.5\nb,0.5\n", "has 2 rows; expected 3; missing: 'c'"),
        (SAMPLE + "b,0.1\n", "has 4 rows; expected 3; repeated: 'b'"),
        (SAMPLE + "d,0.1\n", "has 4 rows; expected 3; unexpected: 'd'"),
    ],
)
def test_what_is_wrong_with_its_shape_is_named(check, text, words):
    with pytest.raises(InvalidSubmission, match=words):
        check(text, form())


def test_parse():
    parsed = Format.parse(form(extra="refused", sum_to_one=1e-5))
    assert (parsed.ids, parsed.rows, parsed.order, parsed.extra) == ("list", "same", "free", "refused")
    assert parsed.columns["p"] == Column(type="number", low=0, high=1)
    assert parsed.id_required


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "needs a table `columns`"),
        (form(row="any"), "unknown key row; did you mean rows?"),
        (form(rows="all"), "rows = 'all': expected one of 'same', 'any'"),
        (form(rows="any"), 'rows = "any" needs ids = "set" or "subset"'),
        (form(rows="any", ids="any"), 'or order = "sample"'),
        (form(id=3), "id = 3: expected text"),
        (form(sum_to_one=True), "sum_to_one = True"),
        (form(columns={"p": {"low": 0}}), "columns.p.type is missing"),
        (form(columns={"p": "number"}), "columns.p = 'number': expected a table"),
        (form(columns={"p": {"type": "text", "low": 0}}), "columns.p: low cannot be used for a column of type 'text'"),
        (form(columns={"p": {"type": "number", "low": 2, "high": 1}}), "columns.p: low = 2 is not below high = 1"),
        (form(columns={"p": {"type": "number", "low": float("nan")}}), "columns.p: low = nan is not below"),
        (form(columns={"p": {"type": "number", "missing": 1}}), "columns.p.missing = 1: expected true or false"),
        (form(columns={"p": {"type": "text"}}, sum_to_one=1e-5), "needs columns of numbers"),
        (form(columns={"p": {"type": "mask"}}), "needs `pixels`"),
        (form(columns={"p": {"type": "records"}}), "needs `record`"),
        (form(columns={"p": {"type": "records", "record": ["word"]}}), "expected one of 'text', 'number', 'integer'"),
        ({"columns": {"p": NUMBER}}, "needs `id`"),
        (form(columns={"p": {"type": "any", "choices": ["a"]}}), "choices cannot be used for a column of type 'any'"),
        (form(columns={"*": {"type": "any", "verbatim": True}}), "verbatim needs the name"),
        (
            form(columns={"p": {"type": "text", "verbatim": True}}),
            "verbatim cannot be used for a column of type 'text'",
        ),
    ],
)
def test_parse_refuses(table, said):
    with pytest.raises(PluginError) as caught:
        Format.parse(table)
    assert said in str(caught.value)


def test_star_stands_for_the_other_columns_of_the_sample():
    parsed = Format.parse(form(columns={"b": {"type": "any"}, "*": NUMBER}))
    rules = parsed.expand(["id", "a", "b", "c"])
    assert {name: rule.type for name, rule in rules.items()} == {"a": "number", "b": "any", "c": "number"}


def test_well_formed(check):
    assert check("x,p,id\n0,0.1,c\n0,1,a\n0,0,b\n", form()) == []


@pytest.mark.parametrize(
    ("text", "keys", "said"),
    [
        ("id,q\na,1\nb,1\nc,1\n", {}, "lacks 1 column: 'p'"),
        ("id,p\na,1\nb,1\n", {}, "2 rows; expected 3"),
        ("id,p\na,1\nb,1\nd,1\n", {}, "1 unexpected id: 'd'"),
        ("id,p\na,1\nb,2\nc,1\n", {}, "found id 'b': 2"),
        ("id,p,x\na,1,0\nb,1,0\nc,1,0\n", {"extra": "refused"}, "that are not allowed: 'x'"),
        ("id,p\na,1\nb,1\nb,1\n", {"ids": "set"}, "lacks 1 id: 'c'"),
        ("id,p\na,1\nd,1\n", {"ids": "subset", "rows": "any"}, "unexpected id: 'd'"),
        ("id,p\na,1\n", {"ids": "any"}, "1 row; expected 3"),
        ("p\n1\n1\n1\n", {"ids": "any"}, "lacks 1 column: 'id'"),
        ("p\n1\n1\n7\n", {"ids": "any", "order": "sample"}, "found row 3: 7"),
        ("id,p\na,1\nb,0.9\nc,1\n", {"sum_to_one": 1e-5}, "sums found: id 'b': 0.9"),
    ],
)
def test_refused(check, text, keys, said):
    with pytest.raises(InvalidSubmission) as caught:
        check(text, form(**keys))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("id,p\na,1\nb,1\nb,1\nc,1\n", {"ids": "set", "rows": "any"}),
        ("id,p\nb,1\nb,1\n", {"ids": "subset", "rows": "any"}),
        ("id,p\n", {"ids": "any", "rows": "any", "order": "sample"}),
        ("p\n1\n1\n0\n", {"ids": "any", "order": "sample", "extra": "refused"}),
        ("id,p\na,1\nb,1\nc,0\n", {"ids": "any", "order": "sample", "extra": "refused"}),
    ],
)
def test_accepted(check, text, keys):
    assert check(text, form(**keys)) == []


@pytest.mark.parametrize(
    ("column", "good", "bad"),
    [
        ({"type": "label"}, "3.0", "0.5"),
        ({"type": "integer"}, "3.7", "1e30"),
        ({"type": "text"}, "word", ""),
        ({"type": "text", "missing": True}, "word", "7"),
        ({"type": "number", "from_text": True}, "1_0", "word"),
        ({"type": "number", "missing": True}, "", "inf"),
        ({"type": "number", "infinite": True}, "-inf", ""),
        ({"type": "mask", "pixels": 9}, "1 2 8 5", ""),
        ({"type": "mask", "pixels": 9, "missing": True}, "1 3 9 2 10 1", "7"),
    ],
)
def test_column_types(check, column, good, bad):
    table = form(columns={"p": column})
    check(f"id,p\na,{good}\nb,{good}\nc,{good}\n", table)
    with pytest.raises(InvalidSubmission, match="column 'p' must hold"):
        check(f"id,p\na,{bad}\nb,{bad}\nc,{bad}\n", table)
    assert check(f"id,p\na,{bad}\nb,\nc,word\n", form(columns={"p": {"type": "any"}})) == []


def records(tmp_path: Path, cells: list[str], **keys: object) -> list:
    """Each cell's records, of a text, a number and an integer."""
    rows = "".join(f'r{place},"{cell}"\n' for place, cell in enumerate(cells))
    (tmp_path / "submission.csv").write_text("id,p\n" + rows)
    (tmp_path / "answers.csv").write_text("id,p\n" + rows)
    rule = {"type": "records", "record": ["text", "number", "integer"], **keys}
    table = Format.parse(form(columns={"p": rule}))
    found = table.read(Table(tmp_path / "submission.csv"), tmp_path / "answers.csv")[1]["p"]
    return [list(zip(*(words.tolist() for words in cell.words), strict=True)) for cell in found]


def test_records(tmp_path):
    first, second = records(tmp_path, ["car 1e3 14.9 car -inf -1.9", "5 1_0 3"])
    assert first == [("car", 1000.0, 14), ("car", float("-inf"), -1)]
    assert second == [("5", 10.0, 3)]
    assert records(tmp_path, [" a\t1  2\n", " "], blank=True) == [[("a", 1.0, 2)], []]
    assert records(tmp_path, ["a 1 2", ""], missing=True) == [[("a", 1.0, 2)], []]
    assert records(tmp_path, ["a 1 2", " 1 2"], single=True)[1] == [("", 1.0, 2)]  # an empty word


@pytest.mark.parametrize(
    ("cell", "keys", "said"),
    [
        ("a 1", {}, "id 'r1': expected records of 3 words .* but the cell has 2"),
        ("a b 1", {}, "could not convert string to float: 'b'"),
        ("a 1 nan", {}, "NaN"),
        ("a 1 inf", {}, "infinity"),
        (" ", {}, "the cell is blank"),
        ("a  1 2", {"single": True}, "exactly one blank between, but the cell has 4"),
        ("a 1 2 ", {"single": True}, "the cell has 4"),
    ],
)
def test_records_refused(tmp_path, cell, keys, said):
    with pytest.raises(InvalidSubmission, match=said):
        records(tmp_path, ["a 1 2", cell], **keys)


def test_pictures_have_as_many_pixels_as_the_answers_say(tmp_path):
    table = Format.parse(form(columns={"p": {"type": "mask", "pixels": ["height", "width"], "missing": True}}))
    (tmp_path / "submission.csv").write_text("id,p\nb,3 5 5 1\na,3 9\n")
    (tmp_path / "answers.csv").write_text("id,p,height,width\na,,2,4\nb,,1,4\n")
    truth, predictions = table.read(Table(tmp_path / "submission.csv"), tmp_path / "answers.csv")
    assert [runs.tolist() for runs in predictions["p"]] == [[[2, 8]], [[2, 4]]]
    assert list(truth.columns) == ["id", "p", "height", "width"]
    (tmp_path / "answers.csv").write_text("id,p,height,width\na,,2,4\nb,,2,4\n")
    with pytest.raises(InvalidSubmission, match="id 'b': runs of a mask overlap"):
        table.read(Table(tmp_path / "submission.csv"), tmp_path / "answers.csv")


def test_warns_of_another_order_where_rows_are_paired_by_place(check):
    said = check("id,p\na,1\nc,1\nb,1\n", form(order="sample"))
    assert said == [
        "rows may be paired by their place in the file, and the order is not the sample's: row 2 is 'c', expected 'b'"
    ]
    assert check("id,p\na,1\nc,1\nb,1\n", form()) == []


def test_warns_of_ids_that_are_not_compared(check):
    assert "1 id missing from the sample, such as 'z'" in check("id,p\na,1\nz,1\nb,1\n", form(ids="any"))[0]


def test_warns_of_leading_zeros(check):
    sample = "id,p\n1,0\n2,0\n"
    assert "leading zeros" in check("id,p\n01,1\n02,0\n", form(), sample)[0]
    assert check("id,p\n01,1\n02,0\n", form(), "id,p\n01,0\n02,0\n") == []
    assert check("id,p\n0,1\n20,0\n", form(), "id,p\n0,0\n20,0\n") == []


def test_warns_of_a_shifted_table_and_of_gaps(check):
    table = form(ids="any", columns={"p": {"type": "number", "missing": True}})
    said = check("id,p\na,1,\nb,1,\nc,1,\n", table)
    assert any("more cells than the header" in line for line in said)
    assert any("column 'p' has 3 missing values" in line for line in said)


def test_a_table_that_does_not_fit_its_sample_is_the_plugins_fault(check):
    with pytest.raises(PluginError, match="the sample has only id, p"):
        check("id,p\na,1\n", form(id="name"))


def test_a_damaged_sample_is_not_the_submissions_fault(check):
    with pytest.raises(DataError, match="the sample submission is damaged"):
        check("id,p\na,1\n", form(), 'id,p\n"a')


def test_another_number_of_rows_is_reported_before_a_large_file_is_parsed(check, tmp_path, monkeypatch):
    monkeypatch.setattr("mlecore_toolkit.submissions.table.HEAVY", 10)
    frames, frame = [], Table.frame
    monkeypatch.setattr(Table, "frame", lambda self, **options: frames.append(self.path.name) or frame(self, **options))
    with pytest.raises(InvalidSubmission, match="the submission has 4 rows; expected 3"):
        check("id,p\n" + "a,1\n" * 4, form())
    assert frames == ["sample.csv"]
    assert check("id,p\na,1\n\n b,1\n c,1\n".replace(" ", ""), form()) == []
    with pytest.raises(InvalidSubmission, match="unexpected"):
        check("id,p\n" + "x,1\n" * 4, form(ids="set", rows="any"))


def test_rescale_divides_each_row_by_its_sum(tmp_path):
    answers = pd.DataFrame({"id": [1, 2], "a": [0, 1], "b": [1, 0]})
    rescaled = Format.parse({"id": "id", "rescale": True, "columns": {"*": {"type": "number", "low": 0, "high": 1}}})
    path = tmp_path / "submission.csv"
    path.write_text("id,b,a\n2,0.5,0.5\n1,0.3,0.1\n")
    _, predictions = rescaled.read(Table(path), answers)
    assert predictions[["a", "b"]].to_numpy() == pytest.approx(np.array([[0.25, 0.75], [0.5, 0.5]]))
    path.write_text("id,b,a\n2,0,0\n1,0.3,0.1\n")
    with pytest.raises(InvalidSubmission, match="must have a sum above 0"):
        rescaled.read(Table(path), answers)


def test_verbatim_cells_are_read_as_written(tmp_path):
    cells = ["007", "", "NA", "1.0", " x", "TRUE"]
    lines = [f'{number},"{cell}"' for number, cell in enumerate(cells)]
    (tmp_path / "answers.csv").write_text("\n".join(["id,p", *lines, ""]))
    (tmp_path / "submission.csv").write_text("\n".join(["id,p", *lines[::-1], ""]))
    table = form(columns={"p": {"type": "any", "verbatim": True}})
    truth, predictions = Format.parse(table).read(Table(tmp_path / "submission.csv"), tmp_path / "answers.csv")
    assert truth["p"].tolist() == predictions["p"].tolist() == cells
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("id,p\n" + "".join(f"{number},010\n" for number in range(6)))
    assert Format.parse(table).read(Table(numbers), tmp_path / "answers.csv")[1]["p"].tolist() == ["010"] * 6
