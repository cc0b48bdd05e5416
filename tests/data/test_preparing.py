"""Preparing: whole or not there, from every source, whatever kills it."""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from mlecore.data import manifest
from mlecore.data.compare import compare
from mlecore.data.layout import DataDirs
from mlecore.data.opening import open_prepared
from mlecore.data.preparing import prepare
from mlecore.data.sources import Archive, Fetch, RawFolder, Synthetic
from mlecore.errors import DataError, PluginError, UsageError
from mlecore.util import files, locks
from mlecore.util.locks import LockHeld


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_synthetic_data_are_made_prepared_and_listed(tiny, dirs: DataDirs) -> None:  # type: ignore[no-untyped-def]
    outcome = prepare(tiny, dirs, Synthetic(seed=3, size=2))
    head = outcome.prepared.manifest
    assert outcome.done and head is not None
    assert (head.source, head.seed, head.size, head.plugin_version, head.verified) == ("synthetic", 3, 2, "1.2", False)
    entries = {entry.path: entry for entry in manifest.read_files(outcome.prepared.root)}
    there = {name: content for name, content in contents(outcome.prepared.root).items() if "/" in name}
    assert {path: entry.sha256 for path, entry in entries.items()} == {
        name: hashlib.sha256(content).hexdigest() for name, content in there.items()
    }
    assert head.public.files == 4 and head.private.files == 1
    assert compare(outcome.prepared.root, outcome.prepared.lists).problems == []


def test_somebody_elses_data_are_prepared_already_and_a_group_may_share_them(
    tiny, dirs: DataDirs, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    dirs.first.mkdir()
    dirs.first.chmod(0o2755)
    found = prepare(tiny, dirs, Synthetic()).prepared
    assert oct(found.private.stat().st_mode & 0o7777) == "0o2750"

    def closed(*_: object, **__: object) -> int:  # root may open everything
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(locks, "open_regular", closed)
    with pytest.raises(DataError):
        prepare(tiny, dirs, Synthetic(), force=True)
    assert not prepare(tiny, dirs, Synthetic()).done


@pytest.mark.parametrize(("source", "careless"), [(Synthetic(), True), (Fetch(), False)])
def test_only_the_user_can_enter_the_folders_with_answers(tiny, dirs: DataDirs, source, careless) -> None:  # type: ignore[no-untyped-def]
    """Whatever a plugin does with the folder that it was given."""
    tiny.hooks, fill = ("make_raw", "fetch"), tiny.prepare

    def prepare_anew(raw: Path, public: Path, private: Path) -> None:
        fill(raw, public, private)
        if careless:
            private.rename(private.with_name("old"))
            shutil.copytree(private.with_name("old"), private)
            private.chmod(0o777)
            shutil.rmtree(private.with_name("old"))

    tiny.prepare = prepare_anew
    before = os.umask(0o022)
    try:
        found = prepare(tiny, dirs, source, keep_raw=True).prepared
    finally:
        os.umask(before)
    assert oct(found.private.stat().st_mode & 0o777) == "0o700" and oct(found.public.stat().st_mode & 0o777) == "0o755"
    raw = dirs.folder(tiny.id) / ("raw" if isinstance(source, Fetch) else "synthetic/raw")
    assert oct(raw.stat().st_mode & 0o777) == "0o500"


def test_real_data_that_need_no_account_serve_as_synthetic(tiny, dirs: DataDirs) -> None:  # type: ignore[no-untyped-def]
    tiny.hooks = ("fetch",)
    made = prepare(tiny, dirs, Synthetic()).prepared
    assert made.manifest is not None
    assert (made.synthetic, made.manifest.source) == (False, "fetch")


def test_what_is_there_is_left_alone(tiny, dirs: DataDirs) -> None:  # type: ignore[no-untyped-def]
    first = prepare(tiny, dirs, Synthetic(seed=5))
    tiny.calls.clear()
    assert not prepare(tiny, dirs, Synthetic()).done
    assert tiny.calls == []
    for other in (Synthetic(seed=6), Synthetic(size=2.0)):  # runs may be active on them
        with pytest.raises(UsageError, match="with seed 5 and size 1 already exist"):
            prepare(tiny, dirs, other)
    assert prepare(tiny, dirs, Synthetic(seed=6), force=True).prepared.digest != first.prepared.digest
    assert prepare(tiny, dirs, Synthetic(), force=True).done
    tiny.plugin = evolve(tiny.plugin, version="1.3")
    assert prepare(tiny, dirs, Synthetic()).done


def test_preparing_from_somebodys_folder_only_reads_it(tiny, dirs: DataDirs, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    raw = tmp_path / "mine"
    raw.mkdir()
    tiny.make_raw(raw)
    before = {path: path.stat() for path in raw.rglob("*")}
    prepared = prepare(tiny, dirs, RawFolder(raw)).prepared
    assert prepared.root == dirs.first / "tiny/prepared"
    assert prepared.kind(tiny.facts) == "unverified"
    tiny.with_facts(expect={"private/test.csv": {"rows": 5}})
    assert prepare(tiny, dirs, RawFolder(raw), force=True).prepared.kind(tiny.facts) == "unverified"
    assert {path: path.stat() for path in raw.rglob("*")} == before
    with pytest.raises(UsageError, match="no such folder"):
        prepare(tiny, dirs, RawFolder(tmp_path / "nowhere"), force=True)


def test_fetched_data_need_no_account(tiny, dirs: DataDirs) -> None:  # type: ignore[no-untyped-def]
    tiny.with_facts(kaggle=None)
    prepared = prepare(tiny, dirs).prepared
    assert prepared.manifest is not None and prepared.manifest.source == "fetch"
    assert not (dirs.folder("tiny") / "raw").exists()
    prepare(tiny, dirs, Fetch(), force=True, keep_raw=True)
    assert (dirs.folder("tiny") / "raw" / "train.csv").stat().st_mode & 0o222 == 0


def test_an_archive_is_verified_unpacked_and_kept(tiny, dirs: DataDirs, tiny_archive: Path) -> None:  # type: ignore[no-untyped-def]
    md5 = hashlib.md5(tiny_archive.read_bytes()).hexdigest()
    head = prepare(tiny.with_facts(md5={"zip": md5}), dirs, Archive(tiny_archive), keep_raw=True).prepared.manifest
    assert head is not None and head.archive_md5 == md5
    raw = dirs.folder("tiny") / "raw"
    assert (raw / "deep/er/nested.zip").read_bytes() == b"stays packed"
    assert not os.access(raw / "train.csv", os.W_OK) or os.geteuid() == 0
    assert (raw / "train.csv").stat().st_mode & 0o222 == 0
    assert tiny_archive.exists()


def test_a_wrong_archive_is_refused_with_both_values_unless_verification_is_skipped(  # type: ignore[no-untyped-def]
    tiny, dirs: DataDirs, tiny_archive: Path
) -> None:
    tiny.with_facts(md5={"zip": "0" * 32})
    with pytest.raises(DataError, match=r"MD5 [0-9a-f]{32}, expected 0{32}"):
        prepare(tiny, dirs, Archive(tiny_archive))
    assert not (dirs.folder("tiny") / "raw").exists() and not (dirs.folder("tiny") / "raw.partial").exists()
    outcome = prepare(tiny, dirs, Archive(tiny_archive), verify=False)
    assert "the published one has 000" in outcome.notes[0]


def test_what_was_unpacked_before_is_used_only_if_it_came_from_the_same_archive(  # type: ignore[no-untyped-def]
    tiny, dirs: DataDirs, tiny_archive: Path
) -> None:
    prepare(tiny, dirs, Archive(tiny_archive), keep_raw=True)
    raw = dirs.folder("tiny") / "raw"
    first = raw.stat().st_ino
    prepare(tiny, dirs, Archive(tiny_archive), keep_raw=True, force=True)
    assert raw.stat().st_ino == first
    with tiny_archive.open("ab") as file:  # a zip may have a comment; its bytes are others now
        file.seek(-2, 2)
        file.write(b"\x01\x00x")
    prepare(tiny, dirs, Archive(tiny_archive), keep_raw=True, force=True)
    assert raw.stat().st_ino != first


def test_a_raw_folder_that_is_not_ours_is_not_trusted(tiny, dirs: DataDirs, tiny_archive: Path) -> None:  # type: ignore[no-untyped-def]
    (dirs.folder("tiny") / "raw").mkdir(parents=True)
    with pytest.raises(DataError, match="--raw"):
        prepare(tiny, dirs, Archive(tiny_archive))


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"md5": {"public/train.csv": "0" * 32}}, r"public/train.csv: MD5 [0-9a-f]{32}, expected 0{32}"),
        ({"md5": {"public/none.csv": "0" * 32}}, "public/none.csv: is missing"),
        ({"expect": {"public/train.csv": {"rows": 14}}}, "public/train.csv: 15 rows, expected 14"),
        ({"expect": {"public/images": {"files": 2}}}, "public/images: 1 files, expected 2"),
    ],
)
def test_real_data_must_be_as_published(tiny, dirs: DataDirs, tiny_archive: Path, facts: dict, line: str) -> None:  # type: ignore[no-untyped-def,type-arg]
    tiny.with_facts(**facts)
    with pytest.raises(DataError, match=line) as caught:
        prepare(tiny, dirs, Archive(tiny_archive))
    assert dirs.find("tiny") is None
    assert (dirs.folder("tiny") / "prepared.wrong/public/train.csv").exists() and "kept in" in str(caught.value)
    assert prepare(tiny, dirs, Archive(tiny_archive), verify=False).prepared.manifest.verified is False  # type: ignore[union-attr]
    assert prepare(tiny, dirs, Synthetic()).done  # published figures are not those of synthetic data


def test_checksums_that_only_inform_do_not_stop(tiny, dirs: DataDirs, tiny_archive: Path) -> None:  # type: ignore[no-untyped-def]
    tiny.with_facts(md5={"public/train.csv": "0" * 32}, md5_informs=("public/train.csv",))
    assert prepare(tiny, dirs, Archive(tiny_archive)).done


def test_a_plugin_that_fails_leaves_what_was_there(tiny, dirs: DataDirs) -> None:  # type: ignore[no-untyped-def]
    digest = prepare(tiny, dirs, Synthetic()).prepared.digest
    good = tiny.prepare
    tiny.prepare = lambda raw, public, private: (public / "half.csv").write_text("x")
    with pytest.raises(PluginError, match=r"did not write private/test\.csv"):
        prepare(tiny, dirs, Synthetic(), force=True)
    assert open_prepared(tiny, dirs, synthetic=True).digest == digest
    assert not list(dirs.folder("tiny").rglob("*.partial"))
    tiny.prepare = good


def test_links_are_refused(tiny, dirs: DataDirs) -> None:  # type: ignore[no-untyped-def]
    good = tiny.prepare

    def linking(raw: Path, public: Path, private: Path) -> None:
        good(raw, public, private)
        (public / "answers.csv").symlink_to(private / "test.csv")

    tiny.prepare = linking
    with pytest.raises(DataError, match="neither a file nor a folder"):
        prepare(tiny, dirs, Synthetic())


def test_a_damaged_manifest_is_reported_as_such(tiny, dirs: DataDirs) -> None:  # type: ignore[no-untyped-def]
    root = prepare(tiny, dirs, Synthetic()).prepared.root
    (root / "manifest.json").write_text("{")
    with pytest.raises(DataError, match="--force"):
        dirs.find("tiny", synthetic=True)


KILLED = """
    import sys, time
    from pathlib import Path
    sys.path.insert(0, {here!r})
    from conftest import Tiny
    from mlecore.data.layout import DataDirs
    from mlecore.data.opening import open_prepared
    from mlecore.data.preparing import prepare
    from mlecore.data.sources import Synthetic
    class Slow(Tiny):
        def prepare(self, raw, public, private):
            super().prepare(raw, public, private)
            print("here", flush=True)
            time.sleep(600)
    prepare(Slow(Path({folder!r})), DataDirs((Path({folder!r}) / "data",)), Synthetic())
"""


def test_two_at_once_wait_for_each_other_and_a_killed_one_is_cleaned_up(tiny, dirs: DataDirs, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    script = textwrap.dedent(KILLED).format(here=str(Path(__file__).parent), folder=str(tmp_path))
    other = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None and other.stdout.readline() == "here\n"
    with pytest.raises(LockHeld, match=rf"process {other.pid} on .* is preparing tiny since"):
        prepare(tiny, dirs, Synthetic())
    heard: list[str] = []

    def wait(holder: str) -> bool:
        heard.append(holder)
        os.kill(other.pid, signal.SIGKILL)
        return True

    assert dirs.find("tiny", synthetic=True) is None
    started = time.monotonic()
    assert prepare(tiny, dirs, Synthetic(), wait=wait).done
    assert str(other.pid) in heard[0] and time.monotonic() - started < 300
    assert other.wait() == -signal.SIGKILL
    assert not list(dirs.folder("tiny").rglob("*.partial"))


class Killed(BaseException):
    """The process has been killed: no operation after this one happens either."""


def test_killed_at_any_operation_the_next_call_ends_well(tmp_path: Path, tiny, tiny_archive: Path) -> None:  # type: ignore[no-untyped-def]
    def digest_after(n: int) -> str | None:
        """Kill the first call at its n-th operation; None when it has fewer."""
        dirs, count = DataDirs((tmp_path / str(n),)), 0

        def kill(_: str, __: Path) -> None:
            nonlocal count
            count += 1
            if count >= n:
                raise Killed

        prepare(tiny, dirs, Archive(tiny_archive))
        try:
            with files.faults(kill):
                prepare(tiny, dirs, Archive(tiny_archive), force=True)
            return None
        except Killed:
            found = prepare(tiny, dirs, Archive(tiny_archive)).prepared
        recheck = compare(found.root, found.root).problems
        left = {path.name for path in dirs.folder("tiny").iterdir()} - {".lock", "raw", "raw.json"}
        assert recheck == [] and left == {"prepared"}, (n, recheck, left)
        return found.digest

    digests = list(iter(map(digest_after, itertools.count(1)).__next__, None))  # until a call is not killed
    assert len(digests) > 8 and len(set(digests)) == 1


def test_data_that_are_marked_as_complete_survive_a_power_loss(tiny, disk, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    build = tiny.prepare

    def with_many_files(raw: Path, public: Path, private: Path) -> None:
        build(raw, public, private)
        for number in range(700):
            (public / f"{number}.txt").write_text(f"{number}\n")

    monkeypatch.setattr(tiny, "prepare", with_many_files)
    dirs = DataDirs((disk.at / "data",))
    before = contents(prepare(tiny, dirs, Synthetic()).prepared.root)
    disk.lose_power()
    again = prepare(tiny, dirs, Synthetic())
    assert not again.done and contents(again.prepared.root) == before and len(before) > 700


@pytest.mark.parametrize(
    ("size_gb", "words"), [(0.002, r"is known to have 2\.0 MB"), (None, r"has 5\.\d MB")], ids=["known", "unknown"]
)
def test_nested_archives_are_measured_by_the_size_of_the_download(  # type: ignore[no-untyped-def]
    tiny,
    size_gb: float | None,
    words: str,
    dirs: DataDirs,
    tmp_path: Path,
    tiny_archive: Path,
    make_bomb: Callable[..., Path],
) -> None:
    """None of them is a bomb by itself: 5 MB that declare a gigabyte."""
    nested = make_bomb(tmp_path / "nested.zip", 1_200_000_000, packed=5_000_000, compression=zipfile.ZIP_STORED)
    with zipfile.ZipFile(tiny_archive, "a") as archive:
        archive.write(nested, "more/nested.zip")
    with pytest.raises(DataError, match=rf"would unpack to 1\.2 GB, but the download {words}"):
        prepare(tiny.with_facts(size_gb=size_gb), dirs, Archive(tiny_archive))
    assert tiny.calls == [] and not (dirs.folder("tiny") / "raw").exists()
    assert prepare(tiny.with_facts(size_gb=0.02), dirs, Archive(tiny_archive)).done


@pytest.mark.parametrize("what", ["linked file", "linked folder", "dangling link", "pipe"])
def test_somebodys_folder_leads_nowhere_else(tiny, dirs: DataDirs, tmp_path: Path, what: str) -> None:  # type: ignore[no-untyped-def]
    raw, other = tmp_path / "mine", tmp_path / "kaggle.json"
    (raw / "deep").mkdir(parents=True)
    tiny.make_raw(raw)
    other.write_text("key")
    path = raw / "deep/odd"
    if what == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to({"linked file": other, "linked folder": tmp_path}.get(what, raw / "nowhere"))
    with pytest.raises(UsageError, match="deep/odd is "):
        prepare(tiny, dirs, RawFolder(raw))
    path.unlink()
    path.symlink_to(raw / "train.csv")  # a link within the folder shows nothing else
    (tmp_path / "named").symlink_to(raw)
    assert prepare(tiny, dirs, RawFolder(tmp_path / "named")).done
