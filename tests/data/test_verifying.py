"""Counting what is published: rows of tables of any kind, files below folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore.data.verifying import wrong_counts


def rows(tiny, folder: Path, text: str, name: str = "t.csv") -> str:  # type: ignore[no-untyped-def]
    (folder / name).write_bytes(text.encode())
    return wrong_counts(folder, tiny.with_facts(expect={name: {"rows": -5}}).facts)[0]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a,b\n", 0),
        ("a,b\n1,2\n", 1),
        ("a,b\n1,2", 1),
        ("a,b\r\n1,2\r\n3,4\r\n", 2),
        ('a,b\n"1\n2",3\n', 1),
        ('a,b\n"say ""hi""\n",3\n4,5\n', 2),
    ],
)
def test_rows_are_counted_as_a_table_has_them(tiny, tmp_path: Path, text: str, count: int) -> None:  # type: ignore[no-untyped-def]
    assert rows(tiny, tmp_path, text) == f"t.csv: {count} rows, expected -5"


def test_lines_of_json_and_files_below_a_folder(tiny, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert rows(tiny, tmp_path, '{"a": "\\""}\n{}\n', "t.jsonl") == "t.jsonl: 2 rows, expected -5"
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "file").touch()
    facts = tiny.with_facts(expect={"deep": {"files": 1}, "none": {"files": 1}}).facts
    assert wrong_counts(tmp_path, facts) == ["none: None files, expected 1"]
