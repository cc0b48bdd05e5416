"""Objects of a JSON list, one at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlecore.errors import DataError
from mlecore.prepare import documents, read_json_objects, write_json_objects


@pytest.mark.parametrize("block", [8, 9, 11, 1 << 20])
@pytest.mark.parametrize("indent", [None, 1])
def test_objects_are_those_of_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, indent: int | None
) -> None:
    monkeypatch.setattr(documents, "_BLOCK", block)
    path = tmp_path / "x.json"
    for objects in ([], [{}], [{"a": [1.5, -3.0, 1e-05], "b": "é] , ["}, {"a": {"c": [{}, []]}, "b": None}] * 3):
        path.write_text(json.dumps(objects, indent=indent) + "\n")
        assert list(read_json_objects(path)) == objects


@pytest.mark.parametrize("text", ["", "{}", "[{}", "[{},]", "[{} {}]", "[{}] x", "[{a}]", '[{"a": 1'])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(DataError, match="cannot be read as JSON"):
        list(read_json_objects(tmp_path / "x.json"))


@pytest.mark.parametrize("values", [[], [1], [{"b": "é\ud800", "a": [1557858039302414.8, 1e-7]}, None, "x"]])
def test_objects_are_written_as_json_dump_writes_their_list(tmp_path, values):
    write_json_objects(iter(values), tmp_path / "new" / "x.json")
    assert (tmp_path / "new" / "x.json").read_text() == json.dumps(values)
