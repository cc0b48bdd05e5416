"""Downloading with the real client: every way in which it can go wrong, and nothing lost in any of them."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlecore.data.kaggle.download import download, drop_download
from mlecore.data.kaggle.errors import CannotJoin, RulesNotAccepted
from mlecore.data.layout import DataDirs
from mlecore.errors import DataError
from mlecore.model.facts import Facts

Make = Callable[..., Facts]


@pytest.fixture
def big(kaggle: Any) -> bytes:
    """An archive of some 700 kB that does not compress."""
    kaggle.add("tiny", {"train.csv": random.Random(0).randbytes(700_000)})
    return (kaggle.folder / "tiny.zip").read_bytes()


def test_a_download_is_whole_hashed_and_leaves_nothing_else(
    kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes
) -> None:
    seen: list[tuple[int, int, str]] = []
    got = download(make_facts(md5={"zip": kaggle.md5("tiny")}), dirs, progress=lambda *step: seen.append(step))
    assert got.archive.read_bytes() == big and got.archive.stat().st_mode & 0o077 == 0
    assert seen[-1] == (len(big), len(big), "downloading")
    names = {path.name for path in dirs.folder("tiny").iterdir()}
    assert names == {"tiny.zip", "tiny.zip.json"}
    assert not any(b"KGAT_good" in (dirs.folder("tiny") / name).read_bytes() for name in names)
    drop_download(dirs.folder("tiny"), "tiny")
    assert not list(dirs.folder("tiny").iterdir())


def test_an_archive_that_is_there_is_used_without_asking(
    kaggle: Any, dirs: DataDirs, make_facts: Make, tmp_path: Path
) -> None:
    far = DataDirs((*dirs.dirs, tmp_path / "far"))
    (tmp_path / "far" / "tiny").mkdir(parents=True)
    (tmp_path / "far" / "tiny" / "tiny.zip").write_bytes(b"somebody's")
    assert download(make_facts(), far).archive == tmp_path / "far" / "tiny" / "tiny.zip"
    assert kaggle.requests == []
    drop_download(tmp_path / "far" / "tiny", "tiny")
    assert (tmp_path / "far" / "tiny" / "tiny.zip").exists()  # we did not bring it


def test_a_link_that_drops_is_resumed_where_it_dropped(
    kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes, fault: Any, quick: list[float]
) -> None:
    kaggle.faults["storage"] = [fault(drop_after=65536), fault(drop_after=3 * 65536), fault(drop_after=0)]
    got = download(make_facts(md5={"zip": kaggle.md5("tiny")}), dirs)
    assert got.archive.read_bytes() == big
    spans = [span for what, _, span in kaggle.requests if what == "storage"]
    assert spans == ["", "bytes=65536-", "bytes=262144-", "bytes=262144-"]
    assert kaggle.sent["tiny"] == len(big)  # no byte twice
    assert kaggle.count("DownloadDataFiles") == 4  # addresses expire
    assert [int(seconds) for seconds in quick] == [1, 1, 2]  # progress is forgiven


@pytest.mark.parametrize("where", ["storage", "DownloadDataFiles"])
def test_429_and_5xx_are_waited_for(
    where: str, kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes, fault: Any, quick: list[float]
) -> None:
    kaggle.faults[where] = [fault(429, headers={"Retry-After": "3"}), fault(503), fault(500), fault(502)]
    assert download(make_facts(), dirs).archive.read_bytes() == big
    assert quick[0] == 3 and [int(seconds) for seconds in quick] == [3, 2, 4, 8]


def test_a_link_that_stays_bad_is_given_up_and_what_came_is_kept(
    kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes, fault: Any, quick: list[float]
) -> None:
    kaggle.faults["storage"] = [fault(drop_after=131072), *[fault(503)] * 20]
    with pytest.raises(DataError, match=r"503 .*8 times in a row\); 131 kB have arrived and are kept"):
        download(make_facts(), dirs)
    kaggle.faults.clear()
    kaggle.count_again()
    assert download(make_facts(), dirs).archive.read_bytes() == big
    assert kaggle.sent["tiny"] == len(big) - 131_072


def test_every_byte_may_be_the_last(
    kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, fault: Any, quick: list[float]
) -> None:
    kaggle.add("tiny", {"a": b"0123456789"})
    whole = (kaggle.folder / "tiny.zip").read_bytes()
    for size in {*range(0, len(whole), 9), len(whole) - 1, len(whole)}:
        folder = dirs.folder("tiny")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "tiny.zip.partial").write_bytes(whole[:size])
        state = '{"validator": "\\"' + kaggle.md5("tiny") + '\\"", "size": ' + str(len(whole)) + "}"
        (folder / "tiny.zip.partial.json").write_text(state)
        got = download(make_facts(md5={"zip": kaggle.md5("tiny")}), dirs)
        assert got.archive.read_bytes() == whole


def test_a_partial_of_another_file_is_never_continued(
    kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes, fault: Any, quick: list[float]
) -> None:
    kaggle.faults["storage"] = [fault(drop_after=100_000), *[fault(503)] * 8]
    with pytest.raises(DataError):
        download(make_facts(), dirs)
    kaggle.faults.clear()
    kaggle.add("tiny", {"train.csv": random.Random(1).randbytes(50_000)})  # shorter than what has come
    got = download(make_facts(md5={"zip": kaggle.md5("tiny")}), dirs)
    assert got.archive.read_bytes() == (kaggle.folder / "tiny.zip").read_bytes()


def test_a_file_with_a_wrong_md5_is_kept_and_both_values_are_shown(
    kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes
) -> None:
    facts = make_facts(md5={"zip": "f" * 32})
    with pytest.raises(DataError, match=rf"MD5 {hashlib.md5(big).hexdigest()}, expected f{{32}}"):
        download(facts, dirs)
    assert (dirs.folder("tiny") / "tiny.zip.wrong").read_bytes() == big
    assert dirs.archive("tiny") is None
    assert download(facts, dirs, verify=False).archive.read_bytes() == big


def test_rules_that_are_not_accepted_come_with_the_page_to_open(
    kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes
) -> None:
    kaggle.accepted.clear()
    with pytest.raises(RulesNotAccepted, match=r"https://www\.kaggle\.com/competitions/tiny/rules") as caught:
        download(make_facts(), dirs)
    assert "You must accept this competition's rules" in str(caught.value)
    assert kaggle.count("DownloadDataFiles") == 1  # asking again would not help


def test_what_can_no_longer_be_joined_says_how_else_to_get_in(
    kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes
) -> None:
    facts = make_facts(closed="Ask somebody who joined in 2012, and use --archive FILE.")
    kaggle.accepted.clear()
    with pytest.raises(CannotJoin, match="somebody who joined in 2012"):
        download(facts, dirs)
    kaggle.accepted.add("tiny")  # this account is one of the old ones
    assert download(facts, dirs).archive.read_bytes() == big


def test_what_kaggle_does_not_have(kaggle: Any, token: None, dirs: DataDirs, make_facts: Make) -> None:
    with pytest.raises(DataError, match="no data of tiny for this account"):
        download(make_facts(), dirs)


def test_a_full_disk_is_seen_before_the_first_byte(
    kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")._replace(free=2 * len(big) - 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(DataError, match=r"1\.4 MB needed, 1\.4 MB free"):
        download(make_facts(), dirs)
    assert not (dirs.folder("tiny") / "tiny.zip.partial").exists()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=2 * len(big)))
    assert download(make_facts(), dirs).archive.exists()


def test_a_disk_that_fills_up_is_reported_and_the_partial_file_is_kept(
    kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes
) -> None:
    def full(done: int, total: int, what: str) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="ran full while downloading tiny"):
        download(make_facts(), dirs, progress=full)
    kaggle.count_again()
    assert download(make_facts(), dirs).archive.read_bytes() == big
    assert kaggle.sent["tiny"] < len(big)


def test_the_leaderboard_comes_along_without_anybodys_name(
    kaggle: Any, token: None, dirs: DataDirs, make_facts: Make
) -> None:
    kaggle.add("tiny", {"a": b""}, scores=[0.9, 0.85, 0.2])
    assert download(make_facts(), dirs).notes == ()
    board = dirs.leaderboard("tiny")
    assert board is not None and board.read_text() == "score\n0.9\n0.85\n0.2\n"


@pytest.mark.parametrize("board", [None, b"no zip", b""])
def test_no_leaderboard_is_a_note_and_no_error(
    board: bytes | None, kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes, quick: list[float]
) -> None:
    if board is not None:
        kaggle.leaderboards["tiny"] = board
    got = download(make_facts(), dirs)
    assert got.archive.exists() and "no leaderboard" in got.notes[0]
    assert dirs.leaderboard("tiny") is None


@pytest.mark.parametrize("verify", [True, False])
def test_a_page_in_place_of_the_archive_is_named_and_not_used_again(
    verify: bool, kaggle: Any, token: None, dirs: DataDirs, make_facts: Make, big: bytes
) -> None:
    (kaggle.folder / "tiny.zip").write_bytes(b"<html><title>Kaggle: down for maintenance</title></html>")
    with pytest.raises(DataError, match=r"a web page \(\"Kaggle: down for maintenance"):
        download(make_facts(), dirs, verify=verify)
    (kaggle.folder / "tiny.zip").write_bytes(big)
    assert download(make_facts(), dirs, verify=verify).archive.read_bytes() == big
