"""Options of files: what a command line could not write is JSON, and -B overrides a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlecore.cli.shared import backend_options_of
from mlecore.errors import UsageError
from mlecore.model.options import as_text, read_options


def test_tables_and_lists_are_json_and_the_rest_is_text() -> None:
    given = {"a": 1, "b": True, "c": "x", "d": [{"key": "gpu"}], "e": {"f": 1.5}}
    found = as_text(given)
    assert {name: found[name] for name in "abc"} == {"a": "1", "b": "true", "c": "x"}
    assert json.loads(found["d"]) == given["d"]
    assert json.loads(found["e"]) == given["e"]


def test_the_command_line_overrides_the_file(tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    file.write_text('registry = "a"\nqueue = "gpu"\n[pod-template.spec]\nhostIPC = false\n')
    found = backend_options_of(["registry=b"], file)
    assert found == {"registry": "b", "queue": "gpu", "pod-template": '{"spec": {"hostIPC": false}}'}


@pytest.mark.parametrize(
    ("text", "word"), [("a =", "lab.toml"), ("a = [1979-05-27]", "date"), ("a = 1979-05-27", "a ")]
)
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, text: str, word: str) -> None:
    file = tmp_path / "lab.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=word):
        read_options(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_options(tmp_path / "none.toml")
