"""Tables as tools and people write them by mistake: the reason says what is there and what is expected."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.submissions.format import Format
from mlecore_toolkit.submissions.shape import explaining
from mlecore_toolkit.submissions.table import Table

ROWS = 40
ANSWERS = pd.DataFrame({"id": range(ROWS), "y": 0.5})
HEADER = "id,y\n"
BODY = "".join(f"{n},0.5\n" for n in range(ROWS))


def reason(content: str, folder: Path) -> str:
    path = folder / "submission.csv"
    path.write_text(content)
    form = Format.parse({"id": "id", "columns": {"y": {"type": "number"}}})
    with pytest.raises(InvalidSubmission) as caught, explaining(path):
        form.read(Table(path), ANSWERS)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (HEADER + BODY.replace("\n", ",\n"), "rows have 3 cells, and its first line names 2 columns"),
        (HEADER + "".join(f"{n},{n},0.5\n" for n in range(1, ROWS + 1)), "column 'id' is read from cell 2"),
        (HEADER + BODY.replace("0.5", "0,5"), "or decimal commas"),
        (HEADER + BODY[:60] + HEADER + BODY[60:], "Its line 12 names the columns again"),
        (HEADER + BODY + HEADER + BODY, "Its line 42 names the columns again"),
        ("\ufeff" + HEADER + BODY + HEADER, "Its line 42 names the columns again"),
        (HEADER + BODY[:-5], "Its last line is incomplete ('39')"),
        ("# by model v3\n" + HEADER + BODY, "its first line is a comment"),
        ("sep=,\n" + HEADER + BODY, "for Excel alone"),
        ("<!DOCTYPE html>\n<html></html>\n", "it is a web page"),
        ('[{"id": 1, "y": 0.5}]\n', "it is JSON"),
        ("```csv\n" + HEADER + BODY + "```\n", "it is a block of Markdown"),
        ((HEADER + BODY).replace(",", " "), "separated by blanks"),
        ((HEADER + BODY).replace(",", ";"), "separated by semicolons"),
        ((HEADER + BODY).replace(",", "\t"), "separated by tabs"),
        ("id, y\n" + BODY, "unlike ' y'"),
        ("ID,Y\n" + BODY, "unlike 'ID', 'Y'"),
        (BODY, "must name the columns"),
    ],
)
def test_an_odd_shape_is_named(content: str, words: str, tmp_path: Path) -> None:
    assert words in reason(content, tmp_path)


@pytest.mark.parametrize("content", [HEADER + BODY[:-8], HEADER + BODY.replace("0.5", "cat"), "", "\n", HEADER])
def test_other_reasons_stay_as_they_are(content: str, tmp_path: Path) -> None:
    assert ". Its " not in reason(content, tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        HEADER + "".join(f"x,{n},0.5\n" for n in range(ROWS)),  # R's write.table
        "".join(f"{n - 1 if n else ''},{line}\n" for n, line in enumerate((HEADER + BODY).splitlines())),  # an index
        "".join(",".join(reversed(line.split(","))) + "\n" for line in (HEADER + BODY).splitlines()),
        "\ufeff" + HEADER + BODY,
        "\ufeff" + "".join('"{}","{}"\n'.format(*line.split(",")) for line in (HEADER + BODY).splitlines()),
        *((HEADER + BODY).replace("\n", end) for end in ("\r\n", "\r\r\n", "\n\n", ",\n")),
        (HEADER + BODY)[:-1],
    ],
)
def test_a_valid_table_of_an_odd_shape_stays_valid(content: str, tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    path.write_bytes(content.encode())
    with explaining(path):
        truth, predictions = Format.parse({"id": "id", "columns": {"y": {"type": "number"}}}).read(Table(path), ANSWERS)
    assert len(truth) == len(predictions) == ROWS
