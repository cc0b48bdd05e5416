"""Objects of a JSON list, one at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlecore.errors import DataError
from mlecore_toolkit import read_json_objects, write_json, write_json_objects
from mlecore_toolkit.prepare import documents


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


@pytest.mark.parametrize("indent", [None, 0, 1, 4])
@pytest.mark.parametrize("sort_keys", [False, True])
def test_a_value_is_written_as_json_dump_writes_it(tmp_path: Path, indent: int | None, sort_keys: bool) -> None:
    flat = {"é\ud800\n": '",\n\\', "b": [], "a": {}, "n": None, "x": [1e-07, float("nan"), -0.0, True]}
    deep = {"z": [flat, [flat, []], {"": {}}, (1, (2, ()))], "y": {"k": {"l": [1]}}, "x": 1557858039302414.8}
    numbered = {10: {"a": 1}, 9: [2.5], 8: "x"}
    for number, value in enumerate([{}, [], 3, "x", None, [1, 2], flat, deep, [deep, deep], [[]], numbered, {"a": ()}]):
        path = tmp_path / f"{number}.json"
        write_json(value, path, indent=indent, sort_keys=sort_keys)
        assert path.read_text() == json.dumps(value, indent=indent, sort_keys=sort_keys)
