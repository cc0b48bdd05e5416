"""Tables on terminals, in pipes and in logs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click import unstyle

from mlecore.cli.shared import medal_style, table_lines

HEADER = ["RUN", "STATE", "REASON"]
ROWS = [
    ["g/baseline--spaceship-titanic--0", "graded", ""],
    ["g/baseline--aerial-cactus-identification--11", "failed", "the engine was stopped while the run was at work " * 3],
]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_table_fits_its_terminal_and_loses_nothing(width: int) -> None:
    lines = table_lines(HEADER, ROWS, width)
    assert max(map(len, lines)) <= width < max(map(len, table_lines(HEADER, ROWS)))
    assert sorted("".join(lines).replace(" ", "")) == sorted("".join(HEADER + ROWS[0] + ROWS[1]).replace(" ", ""))


def test_a_pipe_gets_a_line_a_row() -> None:
    assert len(table_lines(HEADER, ROWS)) == 3


def test_a_narrow_terminal_names_what_it_leaves_out() -> None:
    """What is the same in every row first, then the columns that the caller can spare; names stay whole."""
    name = "tensorflow-speech-recognition-challenge"
    header = ["ID", "STATE", "METRIC", "SIZE"]
    rows = [[name, "ok", "mean-column-wise-rmsle", "1 GB"], ["coins", "ok", "rmse", "25.4 MB"]]
    assert table_lines(header, rows, 200) == table_lines(header, rows)
    assert table_lines(header, rows, 75)[:2] == [f"{'ID':39}  {'METRIC':22}  SIZE", f"{name}  {rows[0][2]}  1 GB"]
    lines = table_lines(header, rows, 60, spare=["METRIC"])
    assert lines[:3] == [f"{'ID':39}  SIZE", f"{name}  1 GB", f"{'coins':39}  25.4 MB"]
    assert "STATE ok" in lines[3] and "METRIC" in lines[4] and len(lines) == 5
    assert all(len(line) <= 30 for line in table_lines([*"ABCDEFGHIJK"], [["x" * 20] * 11], 30))


def test_medals_have_their_colours() -> None:
    assert unstyle(styled := medal_style("2 gold, goldfish, gold-price")) == "2 gold, goldfish, gold-price"
    assert styled.count("gold\x1b[0m") == 1 and medal_style("silver") != medal_style("bronze") != "bronze"


@pytest.mark.parametrize(("columns", "no_color"), [("60", "1"), ("80", None)])
def test_on_a_real_terminal(columns: str, no_color: str | None) -> None:
    variables = {"COLUMNS": columns, "PATH": os.environ["PATH"], "TERM": "xterm"}
    variables |= {"NO_COLOR": no_color} if no_color else {}
    ours, theirs = os.openpty()
    subprocess.run(
        [sys.executable, "-m", "mlecore.cli", "plugins", "list", "--kind", "agent"],
        stdout=theirs,
        env=variables,
        check=True,
    )
    os.close(theirs)
    said = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert max(map(len, said.replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines())) <= int(columns)
    assert ("\x1b[" in said) is (no_color is None)
