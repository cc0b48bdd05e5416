"""Data directories: which ones, and what is found in them."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest

from mlecore.data.layout import DataDirs
from mlecore.data.opening import open_prepared
from mlecore.data.preparing import prepare
from mlecore.data.sources import Synthetic
from mlecore.errors import DataError, NotPrepared, UsageError


def mle_bench(root: Path) -> Path:
    prepared = root / "tiny" / "prepared"
    for path, text in {"public/sample.csv": "id,y\n0,0\n", "private/test.csv": "id,y\n0,1\n"}.items():
        (prepared / path).parent.mkdir(parents=True, exist_ok=True)
        (prepared / path).write_text(text)
    return prepared


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("MLECORE_DATA", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_directories_come_from_the_flag_the_variable_or_the_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert DataDirs.of().dirs == (platformdirs.user_data_path("mlecore") / "data",)
    assert DataDirs.of().first.is_relative_to(home)
    monkeypatch.setenv("MLECORE_DATA", os.pathsep.join(["/a", "/b"]))
    assert DataDirs.of().dirs == (Path("/a"), Path("/b"))
    assert DataDirs.of(["/c", "~/d"]).dirs == (Path("/c"), home / "d")


def test_mle_bench_own_directory_is_found_by_itself_and_comes_last(home: Path) -> None:
    bench = platformdirs.user_cache_path("mle-bench") / "data"
    bench.mkdir(parents=True)
    assert DataDirs.of(["/c"]).dirs == (Path("/c"), bench)


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", ".hidden", "a\0"])
def test_a_name_cannot_lead_out_of_the_directory(dirs: DataDirs, name: str) -> None:
    with pytest.raises(UsageError):
        dirs.find(name)
    with pytest.raises(UsageError):
        dirs.find("tiny", edition=name or "@")


def test_what_is_not_there_comes_with_the_command_to_run(dirs: DataDirs, tiny) -> None:  # type: ignore[no-untyped-def]
    assert dirs.find("tiny") is None
    with pytest.raises(NotPrepared, match=rf"mlecore prepare tiny --synthetic --data {dirs.first}$"):
        open_prepared(tiny, dirs, synthetic=True)
    tiny.edition = "v2"
    with pytest.raises(NotPrepared, match=rf"mlecore prepare tiny --edition v2 --data {dirs.first}$"):
        open_prepared(tiny, dirs)


def test_editions_and_synthetic_data_have_separate_folders(dirs: DataDirs, tiny) -> None:  # type: ignore[no-untyped-def]
    v1 = prepare(tiny, dirs, Synthetic()).prepared
    tiny.edition = "v2"
    v2 = prepare(tiny, dirs, Synthetic()).prepared
    assert v1.root == dirs.first / "tiny/synthetic/prepared"
    assert v2.root == dirs.first / "tiny/synthetic/prepared@v2"
    assert dirs.find("tiny") is None
    assert [(found.edition, found.synthetic) for found in dirs.all()] == [("v1", True), ("v2", True)]


def test_the_first_directory_that_has_it_counts(tmp_path: Path, tiny) -> None:  # type: ignore[no-untyped-def]
    near, far = DataDirs((tmp_path / "near", tmp_path / "far")), DataDirs((tmp_path / "far",))
    prepare(tiny, far, Synthetic())
    assert open_prepared(tiny, near, synthetic=True).root.is_relative_to(tmp_path / "far")
    prepare(tiny, near, Synthetic(), force=True)
    assert open_prepared(tiny, near, synthetic=True).root.is_relative_to(tmp_path / "near")


def test_mle_bench_data_are_used_in_place_and_verified_once(tmp_path: Path, tiny) -> None:  # type: ignore[no-untyped-def]
    root = mle_bench(tmp_path / "bench")
    before = sorted((tmp_path / "bench").rglob("*"))
    dirs = DataDirs((tmp_path / "data", tmp_path / "bench"))
    found = dirs.find("tiny")
    assert found is not None and found.root == root and found.manifest is None
    with pytest.raises(NotPrepared):
        _ = found.digest
    adopted = open_prepared(tiny, dirs)
    assert adopted.manifest is not None and adopted.manifest.source == "mle-bench"
    again = dirs.find("tiny")
    assert again is not None and again.digest == adopted.digest
    assert again.kind(tiny.facts) == "unverified"  # nothing was compared
    assert sorted((tmp_path / "bench").rglob("*")) == before


def test_mle_bench_data_with_wrong_checksums_are_refused_with_both_values(tmp_path: Path, tiny) -> None:  # type: ignore[no-untyped-def]
    mle_bench(tmp_path / "bench")
    dirs = DataDirs((tmp_path / "data", tmp_path / "bench"))
    tiny.with_facts(md5={"public/sample.csv": "0" * 32})
    with pytest.raises(DataError, match=r"public/sample.csv: MD5 [0-9a-f]{32}, expected 0{32}"):
        open_prepared(tiny, dirs)
    taken = prepare(tiny, dirs, verify=False).prepared
    assert taken.manifest is not None and not taken.manifest.verified


def test_mle_bench_data_that_were_prepared_again_are_verified_again(tmp_path: Path, tiny) -> None:  # type: ignore[no-untyped-def]
    root = mle_bench(tmp_path / "bench")
    dirs = DataDirs((tmp_path / "data", tmp_path / "bench"))
    first = open_prepared(tiny, dirs).digest
    (root / "public" / "new.csv").write_text("more")
    found = dirs.find("tiny")
    assert found is not None and found.manifest is None
    assert open_prepared(tiny, dirs).digest != first


def test_a_grader_need_not_wait_for_mle_bench_data_to_be_verified(tmp_path: Path, tiny) -> None:  # type: ignore[no-untyped-def]
    root = mle_bench(tmp_path / "bench")
    dirs = DataDirs((tmp_path / "data", tmp_path / "bench"))
    assert open_prepared(tiny, dirs, verified=False).private == root / "private"
    assert not (tmp_path / "data").exists()
