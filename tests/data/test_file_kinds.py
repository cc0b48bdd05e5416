"""A download that is not what its name says is named for what it is, with what to do."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest

from mlecore.data.raw import _refuse_links_out
from mlecore.data.unpack import unpack
from mlecore.errors import DataError, MlecoreError
from mlecore_toolkit.archives import require_zip

TABLE = b"id,y\n" + b"".join(b"%d,%d\n" % (n, n) for n in range(2000))
RULES = "You must accept this competition's rules before you'll be able to download files."
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 123456\n"


def packed(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, content)
    return out.getvalue()


LOGIN = b"\n<!DOCTYPE html>\n<html><head><title>Log in | Kaggle</title></head><body>...</body></html>"
NO_ZIP = {
    "empty": (b"", "is empty", "Download it again"),
    "login page": (LOGIN, r"a web page \(\"Log in | Kaggle\"\)", "log in to Kaggle"),
    "consent page": (f"<html><body><p>{RULES}".encode(), "a web page, which asks to accept the rules", "accept the"),
    "gz": (gzip.compress(TABLE), "a gzip file", "--raw DIR"),
    "rar": (b"Rar!\x1a\x07\x01" + bytes(99), "a RAR archive", "--raw DIR"),
    "table": (TABLE, r"a table as text, with commas, that begins with .id,y", "--raw DIR"),
    "LFS": (LFS, "Git LFS", "git lfs pull"),
    "noise": (bytes(range(128, 256)) * 9, "binary data", "Download it again"),
}


@pytest.mark.parametrize("shape", NO_ZIP)
def test_what_is_no_zip_is_named(shape: str, tmp_path: Path) -> None:
    content, words, fix = NO_ZIP[shape]
    path = tmp_path / "spaceship-titanic.zip"
    path.write_bytes(content)
    for use in (require_zip, lambda archive: unpack(archive, tmp_path / "raw")):
        with pytest.raises(DataError, match=words) as caught:
            use(path)
        assert fix in (caught.value.fix or "") and "damaged" not in str(caught.value)
    assert not (tmp_path / "raw").exists()


def test_a_zip_that_is_cut_off_or_within_another(tmp_path: Path) -> None:
    path = tmp_path / "tiny.zip"
    path.write_bytes(packed("train.csv", TABLE)[:-200])
    with pytest.raises(DataError, match="its end is missing"):
        unpack(path, tmp_path / "raw")
    path.write_bytes(packed("tiny.zip", packed("train.csv", TABLE)))
    with pytest.raises(DataError, match=r"nothing in it but the zip tiny\.zip") as caught:
        unpack(path, tmp_path / "raw")
    assert "Unpack it once" in (caught.value.fix or "") and not (tmp_path / "raw").exists()


def test_pointers_of_git_lfs_in_a_folder_of_raw_data(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_bytes(LFS)
    with pytest.raises(MlecoreError, match=r"train\.csv is a pointer of Git LFS"):
        _refuse_links_out(tmp_path)
    (tmp_path / "train.csv").write_bytes(b"id,y\n1,2\n")
    _refuse_links_out(tmp_path)
