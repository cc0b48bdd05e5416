"""Prepared data that changed after they were prepared are noticed; a copy, or a touched file, is still accepted."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from mlecore.data import manifest
from mlecore.data.layout import DataDirs
from mlecore.data.prepared import Prepared
from mlecore.data.preparing import prepare
from mlecore.data.recheck import require_grading_data, require_sample, require_unchanged
from mlecore.data.sources import Synthetic
from mlecore.errors import DataError


@pytest.fixture
def data(tiny, dirs: DataDirs) -> Prepared:  # type: ignore[no-untyped-def]
    return prepare(tiny, dirs, Synthetic()).prepared


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files whose content is read."""
    names: list[str] = []
    sha256 = manifest.sha256
    monkeypatch.setattr(manifest, "sha256", lambda path: (names.append(Path(path).name), sha256(path))[1])
    return names


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write("1,2\n")


def edit(path: Path) -> None:
    """The same size; the time is now."""
    path.write_bytes(path.read_bytes()[:-1] + b"!")


def edit_in_secret(path: Path) -> None:
    """The same size and time."""
    status = path.stat()
    edit(path)
    os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (lambda root: append(root / "public/train.csv"), "public/train.csv: has .* bytes, expected"),
        (lambda root: edit(root / "public/train.csv"), "public/train.csv: has other content"),
        (lambda root: edit(root / "private/test.csv"), "private/test.csv: has other content"),
        (lambda root: (root / "public/sample.csv").unlink(), "public/sample.csv: is missing"),
        (lambda root: append(root / "public/more.csv"), "public/more.csv: does not belong there"),
        (lambda root: (root / "public/x").symlink_to("/"), "public/x is neither a file nor a folder"),
    ],
)
def test_changes_are_named(data: Prepared, dirs: DataDirs, how, words: str) -> None:  # type: ignore[no-untyped-def]
    how(data.root)
    with pytest.raises(DataError, match=words) as error:
        require_unchanged(data, dirs)
    if "neither" not in words:
        assert f"mlecore prepare tiny --synthetic --data {dirs.first} --force" in str(error.value)


def test_only_reading_everything_finds_a_change_that_kept_size_and_time(data: Prepared, dirs: DataDirs) -> None:
    edit_in_secret(data.root / "public/train.csv")
    require_unchanged(data, dirs)
    with pytest.raises(DataError, match=r"train\.csv: has other content"):
        require_unchanged(data, dirs, everything=True)


def test_a_touched_file_is_read_once(data: Prepared, dirs: DataDirs, hashed: list[str]) -> None:
    (data.root / "public/train.csv").touch()
    said: list[str] = []
    require_unchanged(data, dirs, say=said.append)
    assert hashed == ["train.csv"] and "1 file with another time" in said[0]
    require_unchanged(data, dirs)
    assert hashed == ["train.csv"]
    assert dirs.find("tiny", synthetic=True) == data  # with the same digests


def test_a_copy_without_times_is_read_once(data: Prepared, tmp_path: Path, hashed: list[str]) -> None:
    copy = DataDirs((tmp_path / "copy",))
    subprocess.run(["cp", "-r", tmp_path / "data", tmp_path / "copy"], check=True)
    found = copy.find("tiny", synthetic=True)
    assert found is not None
    require_unchanged(found, copy)
    assert sorted(hashed) == ["a b\nü.txt", "description.md", "sample.csv", "test.csv", "train.csv"]
    require_unchanged(found, copy)
    assert len(hashed) == 5


def test_mle_benchs_own_data_are_compared_with_the_manifest_kept_of_them(tiny, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from mlecore.data.opening import adopt

    bench, dirs = tmp_path / "bench", DataDirs((tmp_path / "data", tmp_path / "bench"))
    made = prepare(tiny, DataDirs((bench,)), Synthetic()).prepared
    shutil.copytree(made.root, bench / "tiny/prepared", ignore=shutil.ignore_patterns("manifest.*"))
    found = dirs.find("tiny")
    assert found is not None and found.manifest is None
    found = adopt(found, dirs, tiny.facts)
    require_unchanged(found, dirs)
    append(bench / "tiny/prepared/public/train.csv")
    with pytest.raises(DataError, match=r"train\.csv: has") as error:
        require_unchanged(found, dirs)
    assert f"--data {dirs.first} --force" in str(error.value)  # theirs is never written to


def test_what_grading_reads_is_compared_by_content(tiny, data: Prepared) -> None:  # type: ignore[no-untyped-def]
    require_grading_data(tiny.facts, data)
    edit_in_secret(data.root / "public/train.csv")  # which grading does not read
    require_grading_data(tiny.facts, data)
    edit_in_secret(data.root / "private/test.csv")
    require_sample(tiny.facts, data)  # nor does a check read answers
    with pytest.raises(DataError, match=r"private/test\.csv: has other content"):
        require_grading_data(tiny.facts, data)
    (data.root / "public/sample.csv").unlink()
    with pytest.raises(DataError, match=r"public/sample\.csv: No such file"):
        require_sample(tiny.facts, data)
