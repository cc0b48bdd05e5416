"""One-hot tables, new numbers, JSON, assertions, and the building blocks of synthetic data."""

from __future__ import annotations

import io
import json
import wave
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.random import RandomState

import mlecore_toolkit as prepare
from mlecore.errors import DataError


def test_one_hot_follows_the_classes_and_keeps_the_index() -> None:
    table = prepare.one_hot(pd.Series(["b", "a", "b"], index=[7, 5, 9]), ["c", "b", "a"])
    pd.testing.assert_frame_equal(
        table, pd.DataFrame({"c": [0, 0, 0], "b": [1, 0, 1], "a": [0, 1, 0]}, index=[7, 5, 9])
    )
    with pytest.raises(DataError, match="'z' is not one of the 2 classes"):
        prepare.one_hot(pd.Series(["a", "z"]), ["a", "b"])


def test_numbers_count_up_by_first_appearance() -> None:
    assert prepare.renumber([9, 4, 9, 7, 4]).tolist() == [0, 1, 0, 2, 1]
    assert prepare.renumber(pd.Series(["x", "y"], index=[3, 1]), start=1).tolist() == [1, 2]


@pytest.mark.parametrize("options", [{}, {"indent": 4, "sort_keys": True}])
def test_json_is_that_of_json_dump(tmp_path: Path, options: dict[str, int]) -> None:
    value = [{"b": 0.1, "a": ["é", "𝄞", None, float("nan")]}, {}, [], 1e-7, 10**20]
    prepare.write_json(value, tmp_path / "new" / "x.json", **options)
    assert (tmp_path / "new" / "x.json").read_text() == json.dumps(value, **options)
    assert json.dumps(prepare.read_json(tmp_path / "new" / "x.json"), **options) == json.dumps(value, **options)
    with pytest.raises(DataError, match="already exists"):
        prepare.write_json([], tmp_path / "new" / "x.json")


def test_invalid_json_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="missing"):
        prepare.read_json(tmp_path / "x.json")
    (tmp_path / "x.json").write_bytes(b'{"a": "\xe9"}')
    assert prepare.read_json(tmp_path / "x.json", errors="replace") == {"a": "\ufffd"}
    with pytest.raises(DataError, match=r"x\.json cannot be read as JSON"):
        prepare.read_json(tmp_path / "x.json")


def test_assertions_say_what_is_wrong() -> None:
    prepare.ensure(True, "fine")
    prepare.ensure_columns(pd.DataFrame(columns=["a", "b"]), ["a", "b"], "x.csv")
    prepare.ensure_unique(pd.Series([1, 2]), "ids")
    prepare.ensure_disjoint([1], [2], "ids")
    with pytest.raises(DataError, match="wrong"):
        prepare.ensure(False, "wrong")
    with pytest.raises(DataError, match=r"x\.csv has the columns b, a; expected a, b"):
        prepare.ensure_columns(pd.DataFrame(columns=["b", "a"]), ["a", "b"], "x.csv")
    with pytest.raises(DataError, match="ids: 2 repeated, such as 'x', 'x'"):
        prepare.ensure_unique(["x", "y", "x", "x"], "ids")
    with pytest.raises(DataError, match="ids: 1 in both parts of the split, such as 2"):
        prepare.ensure_disjoint([1, 2], [2, 3], "ids")


@pytest.mark.parametrize("other", ["Int8", "Int64", "Float64"])
def test_columns_of_polars_are_compared_whatever_their_types(other: str) -> None:
    import polars as pl

    small = pl.Series([1, 2], dtype=pl.Int8)
    prepare.ensure_disjoint(small, pl.Series(["1", "2"]), "ids")
    prepare.ensure_disjoint(pl.Series(["a", None]), pl.Series(["b", None]), "ids")
    with pytest.raises(DataError, match="1 in both parts of the split, such as 2"):
        prepare.ensure_disjoint(small, pl.Series([2, 3], dtype=getattr(pl, other)), "ids")


@pytest.mark.parametrize("digits", [4, 8, 12, 16, 17, 32, 40, 64])
def test_hex_ids_are_distinct_and_text_to_every_reader(digits: int) -> None:
    ids = prepare.hex_ids(3000, digits, seed=3)
    assert len(set(ids)) == 3000
    assert {len(name) for name in ids} == {digits} and set("".join(ids)) <= set("0123456789abcdef")
    assert all(isinstance(cell, str) for cell in pd.read_csv(io.StringIO("\n".join(["id", *ids])))["id"])
    assert ids != sorted(ids)
    assert ids[:5] == prepare.hex_ids(5, digits, seed=3) != prepare.hex_ids(5, digits, seed=4)


def test_pictures_repeat_and_tell_their_label() -> None:
    one, same, other = (prepare.picture(RandomState(1), label, 20, 30) for label in (0, 0, 1))
    assert one.shape == (30, 20, 3) and one.dtype == np.uint8
    assert (one == same).all() and not (one == other).all()
    assert one[..., 0].mean() > one[..., 2].mean() and other[..., 2].mean() > other[..., 0].mean()  # red, blue


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "BMP"])
def test_pictures_are_files_that_others_read(kind: str) -> None:
    from PIL import Image

    pixels = prepare.picture(RandomState(1), 0)
    data = prepare.encode(pixels, kind)
    assert data == prepare.encode(pixels, kind)
    image = Image.open(io.BytesIO(data))
    assert image.format == kind and image.size == (32, 32)
    assert kind == "JPEG" or (np.asarray(image) == pixels).all()


def test_sounds_are_files_that_others_read() -> None:
    samples = (1000 * np.sin(np.arange(160))).astype(np.int16)
    with wave.open(io.BytesIO(prepare.wav(samples, 16_000))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
        assert (np.frombuffer(file.readframes(160), "<i2") == samples).all()


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_scans_are_files_that_others_read(kind: type) -> None:
    pixels = np.arange(15).reshape(3, 5).astype(kind) * 17
    data = prepare.dicom(pixels, modality="MR", patient="ID7", number=12)
    assert data == prepare.dicom(pixels, modality="MR", patient="ID7", number=12)
    assert b"pydicom" not in data.lower()  # its version is not part of the bytes
    import pydicom

    file = pydicom.dcmread(io.BytesIO(data))
    assert (file.PatientID, file.Modality, file.InstanceNumber) == ("ID7", "MR", 12)
    assert file.pixel_array.dtype == kind and (file.pixel_array == pixels).all()
    assert file.SOPInstanceUID == file.file_meta.MediaStorageSOPInstanceUID
    assert pydicom.dcmread(io.BytesIO(prepare.dicom(pixels, number=13))).SOPInstanceUID != file.SOPInstanceUID
