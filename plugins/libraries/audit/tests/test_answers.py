"""Answers that are planted in public files are found wherever they are, and nothing else is taken for them."""

from __future__ import annotations

import base64
import io
import json
import sqlite3
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import polars
import pytest

from mlecore_audit.finding import Finding
from mlecore_audit.match import match
from mlecore_audit.run import findings
from mlecore_audit.subject import Subject
from mlecore_toolkit.prepare.media import dicom, encode, wav

pytestmark = pytest.mark.slow

FoundBy = Callable[..., list[Finding]]
PIXELS = np.zeros((4, 4), np.uint8)


def _png(text: str) -> bytes:
    """A picture with a text chunk before its end."""
    plain = encode(PIXELS, "PNG")
    body = b"tEXt" + b"note\0" + text.encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return plain[:-12] + chunk + plain[-12:]


def _jpeg(text: str) -> bytes:
    from PIL import Image

    out, exif = io.BytesIO(), Image.Exif()
    exif[0x010E] = text  # ImageDescription
    Image.fromarray(PIXELS).save(out, "JPEG", exif=exif)
    return out.getvalue()


def _xmp(text: str) -> bytes:
    """A JPEG with a segment of XMP behind its start."""
    body = f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><d photoshop:Category="{text}"/></x:xmpmeta>'.encode()
    segment = b"http://ns.adobe.com/xap/1.0/\0" + body
    plain = encode(PIXELS, "JPEG")
    return plain[:2] + b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + plain[2:]


def _wav(text: str) -> bytes:
    data = wav(np.zeros(8, np.int16), 8000)
    note = text.encode() + bytes(2 - len(text) % 2)
    chunk = b"LIST" + struct.pack("<I", 12 + len(note)) + b"INFO" + b"ICMT" + struct.pack("<I", len(note)) + note
    return data[:4] + struct.pack("<I", len(data) - 8 + len(chunk)) + data[8:] + chunk


def _dicom(text: str) -> bytes:
    return dicom(PIXELS.astype(np.uint16), patient=f"P{text}")


def _hdf5(text: str) -> bytes:
    import h5py

    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        file.create_dataset("signal", data=np.arange(9)).attrs["state"] = text
    return out.getvalue()


def _mat(text: str) -> bytes:
    from scipy.io import savemat

    out = io.BytesIO()
    savemat(out, {"Video": {"Frames": 9, "Label": text}})
    return out.getvalue()


def _json(text: str) -> bytes:
    return json.dumps({"meta": {"grade": text}, "n": 1}).encode()


def _files(test: pd.DataFrame, make: Callable[[str], bytes], ending: str) -> Iterable[tuple[str, bytes]]:
    for id, digit in zip(test["id"], test["digit"], strict=True):
        yield f"{id}{ending}", make(f"class {digit}")


def _assert_answer(found: list[Finding], file: str, words: str) -> None:
    assert len(found) == 1, found
    assert (found[0].level, found[0].kind, found[0].score) == ("answer", "values", 1.0), found
    assert found[0].file.startswith(file)
    assert words in found[0].evidence


TABLES = {  # how a table holds the answers of the test rows y, and what the finding says
    "scaled": (
        lambda y: y.assign(digit=3.5 * y["digit"] + 100),
        "its column 'digit' is 'digit' of the answers, scaled",
    ),
    "relabelled": (lambda y: y.assign(digit=y["digit"].map(dict(enumerate("qwertzuiop")))), "under other names"),
    "shuffled": (
        lambda y: y.sample(frac=1, random_state=1),
        "its column 'digit' is 'digit' of the answers, in 200 of 200",
    ),
    "keys as file names": (lambda y: y.assign(id="a/b/" + y["id"] + ".png"), "its column 'digit' is 'digit'"),
}


@pytest.mark.parametrize("how", TABLES)
def test_answers_in_a_table_are_found(found_by: FoundBy, how: str) -> None:
    change, words = TABLES[how]
    found = found_by("answers", lambda public, train, test: change(test[["id", "digit"]]).to_csv(public / "x.csv"))
    assert {(f.level, f.file, f.score) for f in found} == {("answer", "public/x.csv", 1.0)}, found
    assert any(words in f.evidence for f in found), found


def test_labels_under_another_name_of_the_rows_are_found(subject_of: Callable[..., Subject]) -> None:
    rng = np.random.default_rng(2)
    number = rng.permutation(10_000)[:500]
    table = pd.DataFrame({"id": number, "visit": [f"v{n}" for n in rng.permutation(500)], "digit": number % 10})
    labels = table[300:].sort_values("visit")[["visit", "digit"]].set_axis(["ref", "grade"], axis=1)
    (found,) = findings(subject_of(table[:300], table[300:], {"x.csv": labels.to_csv().encode()}), "answers")
    assert (found.level, found.file, found.score) == ("answer", "public/x.csv", 1.0)


def test_groups_of_rows_with_one_label_are_no_answers(found_by: FoundBy) -> None:
    """Such as patients: the name of one does not say which label it has."""

    def write(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        visits = test.groupby("digit").cumcount() // 4
        patients = [f"{zlib.crc32(bytes(pair)):08x}" for pair in zip(test["digit"].astype(int), visits, strict=True)]
        test[["id"]].assign(patient=patients).to_csv(public / "x.csv", index=False)

    assert found_by("answers", write) == []


def _parquet(table: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    polars.DataFrame({name: table[name].to_list() for name in table}).write_parquet(out)
    return out.getvalue()


def _hdf5_table(table: pd.DataFrame) -> bytes:
    import h5py

    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        for name in table:
            file[f"a/{name}"] = table[name].to_list()
    return out.getvalue()


@pytest.mark.parametrize("write", [_parquet, _hdf5_table])
def test_answers_in_tables_of_other_formats_are_found(
    found_by: FoundBy, write: Callable[[pd.DataFrame], bytes]
) -> None:
    found = found_by(
        "answers",
        lambda public, train, test: (public / "x").write_bytes(
            write(test[["id", "digit"]].sample(frac=1, random_state=1))
        ),
    )
    assert [(f.level, f.file.partition("#")[0], f.score) for f in found] == [("answer", "public/x", 1.0)], found


def _sqlite(table: pd.DataFrame) -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        table.to_sql("notes", database, index=False)
        return database.serialize()


TEXTS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    "notes.md": lambda y: "".join(f"- **{id}**: it's a {d}\n" for id, d in y.to_numpy()).encode(),
    "groups.md": lambda y: "".join(f"## {d}\n\n* {id}\n" for id, d in y.sort_values("digit").to_numpy()).encode(),
    "description.md": lambda y: "".join(f"| {id} | {d} |\n" for id, d in y.to_numpy()).encode(),
    "x.html": lambda y: "".join(f'<li data-y="{d}" class="x">{id}</li>' for id, d in y.to_numpy()).encode(),
    "lines.html": lambda y: "".join(f"<td>{id}</td>\n<td>{d}</td>\n" for id, d in y.to_numpy()).encode(),
    "x.json": lambda y: json.dumps({str(d): list(own["id"]) for d, own in y.groupby("digit")}).encode(),
    "x.db": _sqlite,
    "x.txt": lambda y: base64.encodebytes(y.to_csv(index=False).encode()),
    "x": lambda y: base64.b64encode(zlib.compress(y.to_csv(index=False).encode(), wbits=31)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_answers_in_any_text_are_found(found_by: FoundBy, name: str) -> None:
    found = found_by(
        "answers",
        lambda public, train, test: (public / name).write_bytes(
            TEXTS[name](test[["id", "digit"]].sample(frac=1, random_state=1))
        ),
    )
    assert ("answer", "values", 1.0) in {(f.level, f.kind, f.score) for f in found}, found
    assert all(f.file.startswith(f"public/{name}") for f in found), found


@pytest.mark.parametrize(("order", "level"), [("id", "answer"), ("other", "leak")])
def test_answers_without_keys_are_found(subject_of: Callable[..., Subject], order: str, level: str) -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"id": rng.permutation(500), "digit": rng.normal(size=500), "other": rng.normal(size=500)})
    column = table[300:].sort_values(order)["digit"].to_csv(index=False).encode()
    found = list(findings(subject_of(table[:300], table[300:], {"x.csv": column}), "answers"))
    assert [(f.level, f.file) for f in found] == [(level, "public/x.csv")], found


FORMATS = {
    ".png": (_png, "its field 'text note'"),
    ".jpeg": (_xmp, "its field 'XMP photoshop:Category'"),
    ".jpg": (_jpeg, "its field 'EXIF ImageDescription'"),
    ".wav": (_wav, "its field 'chunk ICMT'"),
    ".dcm": (_dicom, "its field 'DICOM Patient"),
    ".h5": (_hdf5, "its field 'HDF5 signal@state'"),
    ".mat": (_mat, "its field 'mat.Video.Label'"),
    ".json": (_json, "its field 'JSON.meta.grade'"),
    ".txt": (str.encode, "its field 'text'"),
    ".PNG": (lambda text: encode(PIXELS, "PNG") + text.encode(), "its field 'text behind it'"),
}


@pytest.mark.parametrize("ending", FORMATS)
def test_answers_in_metadata_are_found(found_by: FoundBy, ending: str) -> None:
    make, words = FORMATS[ending]

    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        (public / "test").mkdir()
        for name, data in _files(test, make, ending):
            (public / "test" / name).write_bytes(data)

    _assert_answer(found_by("answers", plant), "public/test/", words)


def test_comments_of_members_are_read(found_by: FoundBy) -> None:
    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        with zipfile.ZipFile(public / "test.zip", "w") as archive:
            for name, comment in _files(test, str.encode, ".png"):
                member = zipfile.ZipInfo(name)
                member.comment = comment
                archive.writestr(member, encode(PIXELS, "PNG"))

    _assert_answer(found_by("answers", plant), "public/test.zip!k", "its field 'comment in the archive'")


def test_metadata_of_members_of_archives_are_read(found_by: FoundBy) -> None:
    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as archive:
            for name, data in _files(test, _png, ".png"):
                archive.writestr(name, data)
        with tarfile.open(public / "test.tar.gz", "w:gz") as tar:
            member = tarfile.TarInfo("pictures.zip")
            member.size = len(inner.getvalue())
            tar.addfile(member, io.BytesIO(inner.getvalue()))

    _assert_answer(found_by("answers", plant), "public/test.tar.gz!pictures.zip!k", "its field 'text note'")


def test_folders_named_after_the_label_are_found(found_by: FoundBy) -> None:
    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        for id, digit in zip(test["id"], test["digit"], strict=True):
            (public / "test" / str(digit)).mkdir(parents=True, exist_ok=True)
            (public / "test" / str(digit) / f"{id}.bin").write_bytes(b"")

    (found,) = found_by("answers", plant)
    assert (found.level, found.kind, found.score) == ("answer", "names", 1.0)


def test_clean_data_give_no_finding(found_by: FoundBy) -> None:
    assert found_by("answers") == []


def test_a_column_in_the_order_of_the_answers_is_found_and_one_that_only_splits_them_is_not() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=300)
    keys = [str(k) for k in range(300)]
    truth = pd.Series(values.astype(str), keys)
    found = match(truth, pd.Series(np.exp(-values).astype(str), keys), 1)
    assert found is not None
    assert found.relation == "monotonic"
    assert (found.predictions.astype(float) - values).abs().max() < 1e-9
    assert match(truth, pd.Series((values > 0).astype(int).astype(str), keys), 1) is None


def test_few_rows_prove_nothing() -> None:
    truth = pd.Series(list("ababab"), [str(k) for k in range(6)])
    assert match(truth, truth.map({"a": "x", "b": "y"}), 1) is None


def test_an_input_that_mostly_is_the_answer_is_none() -> None:
    """As in text normalization: the written word is the spoken one, but for numbers."""
    words = pd.Series([f"word{n % 300}" if n % 4 else str(n % 300) for n in range(2000)])
    assert match(words.where(~words.str.isdecimal(), "number " + words), words, 1) is None
    assert match("say " + words, words, 1) is not None
