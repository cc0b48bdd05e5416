"""Small submissions written as text, because verdicts hang on how text is typed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pandas import DataFrame

from mlecore_toolkit.submissions.table import Table


@pytest.fixture
def table(tmp_path: Path) -> Callable[[str], Table]:
    """Turns CSV text into a submission."""

    def write(text: str) -> Table:
        path = tmp_path / "submission.csv"
        path.write_text(text, encoding="utf-8")
        return Table(path)

    return write


@pytest.fixture
def column(table: Callable[[str], Table]) -> Callable[..., DataFrame]:
    """A frame with the column ``x``, one cell per argument, typed by pandas."""

    def build(*cells: str) -> DataFrame:
        return table("id,x\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))).frame()

    return build
