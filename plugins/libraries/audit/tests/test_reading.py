"""Public files are read whatever they are packed in, and rows are found whatever their keys look like."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from mlecore_audit.fields import reader_of
from mlecore_audit.files import contents
from mlecore_audit.keys import Keys
from mlecore_audit.matching import Matcher
from mlecore_audit.tables import read_tables, tables
from mlecore_audit.twins.pictures import picture_of


def _nested(root: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("a/x.csv", "id,y\n1,2\n")
    with tarfile.open(root / "public" / "x.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo("in.zip")
        member.size = len(inner.getvalue())
        tar.addfile(member, io.BytesIO(inner.getvalue()))


def test_archives_in_archives_are_read(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    _nested(tmp_path)
    (tmp_path / "public" / "z.csv.gz").write_bytes(gzip.compress(b"id,y\n3,4\n"))
    names = [item.name for item, _ in contents(tmp_path)]
    assert names == [
        "public/x.tar.gz",
        "public/x.tar.gz!in.zip",
        "public/x.tar.gz!in.zip!a/x.csv",
        "public/z.csv.gz",
        "public/z.csv.gz!z.csv",
    ]
    found = {where: pd.concat(batches).to_numpy().tolist() for where, batches in tables(tmp_path)}
    assert found == {"public/x.tar.gz!in.zip!a/x.csv": [["1", "2"]], "public/z.csv.gz!z.csv": [["3", "4"]]}


def test_a_damaged_archive_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    _nested(tmp_path)
    (tmp_path / "public" / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    failed: dict[str, str] = {}
    names = [item.name for item, _ in contents(tmp_path, failed.__setitem__)]
    assert list(failed) == ["public/broken.zip"]
    assert "public/x.tar.gz!in.zip!a/x.csv" in names


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("0777", "test.tar.gz/Sample00777/Sample00777_color.mp4"),
        ("a1b2", "test/a/1/b/a1b2.png"),
        ("7.jpg", "test/7.jpg"),
        ("2020-05-01-US-1-Pixel", "test/2020-05-01-US-1/Pixel/log.nmea"),
    ],
)
def test_keys_are_found_in_paths(key: str, path: str) -> None:
    assert Matcher([key, "other"])(path) == key
    assert Matcher(["other"])(path) is None


def test_keys_are_found_in_columns_however_they_are_spelled() -> None:
    keys = Keys(["007", "b.png", "c"], ["id"], 10)
    frame = pd.DataFrame({"file": ["x/7.jpg", "x/b.jpg", "x/c.jpg", "x/d.jpg"], "y": ["1", "2", "3", "4"]})
    [(column, rows)] = keys.rows(frame)
    assert column == "file"
    assert dict(zip(rows.index, rows["y"], strict=True)) == {"007": "1", "b.png": "2", "c": "3"}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.json", b'{"a": {"y": 1}, "b": {"y": 2}}'),
        ("x.arrow", b"ARROW1\0\0 and a lot more"),
        ("x.npy", b"\x93NUMPY\x01\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (9, 2), }"),
    ],
)
def test_tables_that_are_too_large_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes
) -> None:
    monkeypatch.setattr("mlecore_audit.tables.WHOLE", 20)
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / name).write_bytes(data)
    failed: dict[str, str] = {}
    assert list(tables(tmp_path, failed.__setitem__)) == []
    assert "256 MiB" in failed[f"public/{name}"]


HOSTILE = {
    "nul.csv": b"id,digit\n\0\0\0,1\n",
    "wide.csv": b",".join([b"x"] * 200_000) + b"\n1\n",
    "long.csv": b"x" * 70_000 + b"\n1\n",
    "damaged.tar.gz": gzip.compress(bytes(range(256)) * 4000)[:300],
    "damaged.7z": b"7z\xbc\xaf\x27\x1c and no more",
    "bomb.zip": None,
    "link.csv": None,
    "damaged.parquet": b"PAR1 and no more",
    "packed.json.gz": gzip.compress(b"[0" + b",0" * 40_000 + b"]"),
    "damaged.db": b"SQLite format 3\0" + bytes(range(256)) * 20,
    "answers.pkl": pickle.dumps({"k1": 7}),
    "plain.pkl": pickle.dumps({"k1": 7}, protocol=0),
    "packed.bin": zlib.compress(b"id,y\n1,2\n" * 9),
    "deep.csv.gz": gzip.compress(gzip.compress(gzip.compress(gzip.compress(b"id,y\n1,2\n")))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_named_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("mlecore_audit.tables.WHOLE", 60_000)
    monkeypatch.setattr("mlecore_audit.tables._FIRST_LINE", 60_000)
    monkeypatch.setattr("mlecore_audit.tables._WIDEST", 10_000)
    path = tmp_path / "public" / name
    path.parent.mkdir()
    if name == "bomb.zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x.csv", "id,y\n")
        data = path.read_bytes()  # its directory says: 4 GB
        path.write_bytes(data.replace((5).to_bytes(4, "little") * 2, (5).to_bytes(4, "little") + b"\xff\xff\xff\xfe"))
    elif name == "link.csv":
        path.symlink_to("/etc/passwd")
    else:
        path.write_bytes(HOSTILE[name] or b"")
    (tmp_path / "public" / "z.csv").write_bytes(b"id,y\n3,4\n")
    failed: dict[str, str] = {}
    found = {where: [len(frame) for frame in batches] for where, batches in tables(tmp_path, failed.__setitem__)}
    assert [file.partition("!")[0] for file in failed] == [f"public/{name}"]
    assert found["public/z.csv"] == [1]


def test_pictures_that_lie_about_their_dimensions_are_read() -> None:
    """Their metadata: nobody decodes ten thousand million pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    reader = reader_of(data)
    assert reader is not None
    assert reader(io.BytesIO(data), len(data))["#width"] == "100000"
    assert picture_of(data, "image") is None


_ROWS = "".join(f"{n},a{n},{n / 7}\n" for n in range(300))
TEXTS = {
    "plain": f"id,x,y\n{_ROWS}",
    "spaces and empty cells": f"id,x,y\n 1 ,,NA\n,,\n{_ROWS}",
    "short rows": f"id,x,y\n1\n2,b\n{_ROWS}",
    "long rows": f"id,x,y\n{_ROWS}1,2,3,4\n5,6,7\n",
    "rows with an index": f"x,y\n{_ROWS}",
    "quotes later": f'id,x,y\n{_ROWS}"8,8","a\nb",c""d\n{_ROWS}',
    "names that repeat or are missing": f"id,,id\n{_ROWS}",
    "blank lines": f"id,x,y\n\n{_ROWS}\n\n4,5,6",
    "Windows": f"id,x,y\n{_ROWS}".replace("\n", "\r\n"),
    "Latin-1": f"id,x,y\n{_ROWS}9,\xe4\xf6,1\n",
    "semicolons": f"id;x;y\n{_ROWS}".replace(",", ";"),
}


@pytest.mark.parametrize("block", [1 << 24, 1000])
@pytest.mark.parametrize("name", TEXTS)
def test_texts_have_the_cells_that_pandas_reads(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlecore_audit.plain_text._BLOCK", block)
    data = TEXTS[name].encode("latin-1")
    options: dict[str, Any] = {"dtype": str, "keep_default_na": False, "encoding_errors": "replace"}
    options |= {"sep": ";" if name == "semicolons" else ",", "on_bad_lines": "skip"}
    expected = pd.read_csv(io.BytesIO(data), **options)
    expected = (expected if isinstance(expected.index, pd.RangeIndex) else expected.reset_index()).fillna("")
    ((_, batches),) = read_tables(io.BytesIO(data), len(data))
    pd.testing.assert_frame_equal(pd.concat(batches, ignore_index=True), expected)
    if name == "plain":
        ((_, batches),) = read_tables(io.BytesIO(data), len(data), ["y"])
        pd.testing.assert_frame_equal(pd.concat(batches, ignore_index=True), expected[["y"]])
