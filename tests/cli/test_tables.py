"""Tables on terminals, in pipes and in logs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mlecore.cli.shared import table_lines

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
