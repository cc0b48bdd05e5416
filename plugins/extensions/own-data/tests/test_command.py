"""`mlecore new competition` refuses what does not go together, and writes nothing then."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from mle_ext_own_data.command import command

from mlecore.errors import UsageError


@pytest.mark.parametrize("words", [["--images", "--groups"]])
def test_examples_exclude_each_other(words: list[str], tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["x", *words, "--into", str(tmp_path)])
    assert isinstance(done.exception, UsageError), done.output
    assert not list(tmp_path.iterdir())
