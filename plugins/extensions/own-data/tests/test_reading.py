"""Tables in every form that people have, and files that are none."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import polars as pl
import pytest
from mle_ext_own_data import folders
from mle_ext_own_data.inference import Asked, infer

from mlecore.errors import UsageError

CITIES = ("Köln", "Zürich", "Århus", "Málaga")
TEXT = "city,price,sold\n" + "".join(f"{CITIES[i % 4]},{i}.5,{i % 2}\n" for i in range(40))


@pytest.mark.parametrize(
    ("name", "data", "how"),
    [
        ("plain.csv", TEXT.encode(), (",", "utf-8", ".")),
        ("mark.csv", TEXT.encode("utf-8-sig"), (",", "utf-8-sig", ".")),
        ("wide.csv", TEXT.encode("utf-16"), (",", "utf-16", ".")),
        ("old.csv", TEXT.encode("latin-1"), (",", "cp1252", ".")),
        ("blanks.txt", TEXT.replace(",", " ").encode(), (" ", "utf-8", ".")),
        ("tabs.tsv", TEXT.replace(",", "\t").encode(), ("\t", "utf-8", ".")),
        ("comma.csv", TEXT.replace(",", ";").replace(".", ",").encode(), (";", "utf-8", ",")),
        ("packed.csv.gz", gzip.compress(TEXT.encode(), mtime=0), (",", "utf-8", ".")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_form_of_csv_gives_the_same_table(
    name: str, data: bytes, how: tuple[str, str, str], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    rows = folders.read(tmp_path / name, None)
    assert (rows.reading.separator, rows.reading.encoding, rows.reading.decimal) == how
    assert rows.frame.schema == {"city": pl.String, "price": pl.Float64, "sold": pl.Int64}
    assert rows.frame.row(3) == ("Málaga", 3.5, 1)


def test_a_zip_with_one_table_and_parquet(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("deep/a.csv", TEXT)
        archive.writestr("readme.md", "hello")
    zipped = folders.read(tmp_path / "a.zip", None)
    assert zipped.reading.member == "deep/a.csv"
    zipped.frame.write_parquet(tmp_path / "a.parquet")
    assert folders.read(tmp_path / "a.parquet", None).frame.equals(zipped.frame)


def test_names_of_columns_are_those_of_pandas(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,a,,"b ""x"", y"\n1,2,3,4\n5,6,7,8\n')
    assert folders.read(tmp_path / "a.csv", None).frame.columns == ["a", "a.1", "Unnamed: 2", 'b "x", y']


def test_long_numbers_stay_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,y\n" + "".join(f"1234567890123456789{i},{i}\n" for i in range(10, 30)))
    assert folders.read(tmp_path / "a.csv", None).frame["id"].n_unique() == 20


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\n\n \n", "is empty"),
        ("a.csv", b"a,b\n", "no rows"),
        ("a.csv", b"a\n1\n2\n", "no table with a comma"),
        ("a.csv", bytes(range(256)) * 40, "binary data"),
        ("a.csv", b"<!doctype html><html><title>Log in</title>", "a web page"),
        ("a.csv", b"a,b\n" + b"1,2\n" * 99 + b"1,2,3\n" + b"1,2\n" * 99, "row 101 has 3 cells"),
        ("a.csv", b"a,b\n" + b"1,2,3\n" * 99, "row 2 has 3 cells"),
        ("a.csv", b"a,b\n" + b"1,2\n" * 9 + b'"1,2\n' + b"1,2\n" * 9, "double quote"),
        ("a.csv", gzip.compress(b"a,b\n1,2\n", mtime=0), "Rename it to a.csv.gz"),
        ("a.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 99, mtime=0)[:-12], "damaged"),
        ("a.parquet", b"PAR1" + b"\0" * 99, "cannot be read as Parquet"),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else None,
)
def test_what_is_no_table_is_refused(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match=message):
        folders.read(tmp_path / name, None)


def test_archives_of_other_things_are_refused(tmp_path: Path) -> None:
    for name, members in (("two.zip", ["a.csv", "b.csv"]), ("book.csv", ["xl/workbook.xml"])):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member in members:
                archive.writestr(member, TEXT)
    with pytest.raises(UsageError, match="2 tables"):
        folders.read(tmp_path / "two.zip", None)
    with pytest.raises(UsageError, match="an Excel workbook"):
        folders.read(tmp_path / "book.csv", None)
    with pytest.raises(UsageError, match=r"Did you mean .*two\.zip"):
        folders.read(tmp_path / "too.zip", None)


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    """A table that names pictures without their ending, in a folder below."""
    (tmp_path / "pictures").mkdir()
    for i in range(20):
        (tmp_path / "pictures" / f"s{i}.png").write_bytes(b"\x89PNG")
    table = "".join(f"s{i},{i // 4},{i % 2}\n" for i in range(20))
    (tmp_path / "labels.csv").write_text(f"scan,patient,ill\n{table}")
    return tmp_path


def test_a_table_beside_files(scans: Path) -> None:
    found = infer(folders.read(scans, None), Asked(name="x", title="X", targets=("ill",)))
    assert (found.files, found.file_column, found.file_suffix) == (scans / "pictures", "scan", ".png")
    assert (found.modality, found.id) == ("image", None)
    (scans / "pictures" / "s3.png").unlink()
    with pytest.raises(UsageError, match="1 of 20 rows name files that are not in"):
        infer(folders.read(scans, None), Asked(name="x", title="X", targets=("ill",)))
    with pytest.raises(UsageError, match="names files, such as '0', that are not in"):
        infer(folders.read(scans, None), Asked(name="x", title="X", targets=("ill",), file_column="patient"))


def test_texts_beside_a_table(tmp_path: Path) -> None:
    for i in range(20):
        (tmp_path / f"{i}.txt").write_text(f"a text, the {i}th")
    (tmp_path / "labels.csv").write_text("name,liked\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
    found = infer(folders.read(tmp_path, None), Asked(name="x", title="X", targets=("liked",)))
    assert (found.modality, found.file_column, found.file_suffix) == ("text", "name", ".txt")


def test_files_do_not_lie_outside_their_folder(scans: Path) -> None:
    table = scans / "labels.csv"
    table.write_text(table.read_text().replace("s3,", "../labels.csv,"))
    with pytest.raises(UsageError, match="not in"):
        infer(folders.read(scans, None), Asked(name="x", title="X", targets=("ill",)))


def test_a_folder_for_each_class(tmp_path: Path) -> None:
    for label in ("cat", "dog"):
        (tmp_path / label).mkdir()
        for i in range(10):
            (tmp_path / label / f"{i}.wav").touch()
    found = infer(folders.read(tmp_path, None), Asked(name="x", title="X"))
    assert (found.targets, found.classes, found.modality) == (("class",), ("cat", "dog"), "audio")
    assert (found.table, found.reading.kind, found.rows) == (None, "folders", 20)
    (tmp_path / "dog").rename(tmp_path / ".dog")
    with pytest.raises(UsageError, match="neither a table"):
        folders.read(tmp_path, None)
