"""What a sandbox left, and what is a log: read without inspect, and as hostile as an agent can make it."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from mle_ext_inspect.collecting import SUBMISSION, unpack
from mle_ext_inspect.logs import find_logs
from mle_ext_sharing.importing import import_runs

from mlecore.errors import UsageError
from mlecore.plugins.discovery import find


def archive(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def file(name: str, content: bytes = b"x") -> tuple[tarfile.TarInfo, bytes]:
    return tarfile.TarInfo(name), content


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member, b""


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def test_only_regular_files_come_out_and_none_outside(tmp_path: Path) -> None:
    packed = archive(
        tmp_path / "a.tar",
        file(SUBMISSION, b"id\n1\n"),
        link("logs/shadow", "/etc/shadow"),
        link("code/hard", "/etc/passwd", tarfile.LNKTYPE),
        link("code/out", str(tmp_path)),
        file("code/out/escaped"),
        file("../escaped"),
        file("/tmp/mlecore-escaped"),
        link("logs/pipe", "", tarfile.FIFOTYPE),
        file(SUBMISSION, b"another"),
        file("logs/kept"),
    )
    folder = tmp_path / "out"
    folder.mkdir()
    left_out = unpack(packed, folder)
    assert names(folder) == ["code/out/escaped", "logs/kept", SUBMISSION]
    assert (folder / SUBMISSION).read_bytes() == b"id\n1\n"
    assert len(left_out) == 7
    assert not (tmp_path / "escaped").exists()


def test_one_file_comes_out_alone_and_a_cut_archive_as_far_as_it_goes(tmp_path: Path) -> None:
    packed = archive(tmp_path / "a.tar", file(SUBMISSION), file("code/a", b"y" * 5000), file("code/b", b"z" * 5000))
    (tmp_path / "one").mkdir()
    assert unpack(packed, tmp_path / "one", SUBMISSION) == []
    assert names(tmp_path / "one") == [SUBMISSION]
    packed.write_bytes(packed.read_bytes()[:9000])
    (tmp_path / "cut").mkdir()
    (why,) = unpack(packed, tmp_path / "cut")
    assert "damaged or cut off" in why
    assert "code/a" in names(tmp_path / "cut")
    (tmp_path / "deep").mkdir()
    (why,) = unpack(archive(tmp_path / "a.tar", file(f"code/{'d/' * 1500}x")), tmp_path / "deep")
    assert "code/" not in why


def test_logs_are_found_by_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "text.eval").write_text("no log")
    (tmp_path / "notes.json").write_text("{}")
    with zipfile.ZipFile(tmp_path / "other.eval", "w") as packed:
        packed.writestr("a", "b")
    with pytest.raises(UsageError, match="no results that can be imported"):
        import_runs(tmp_path, tmp_path / "runs")
    log = tmp_path / "deep" / "log.eval"
    log.parent.mkdir()
    with zipfile.ZipFile(log, "w") as packed:
        packed.writestr("_journal/start.json", "{}")
    assert find_logs(tmp_path) == [log] == find_logs(log)


def test_the_extension_works_without_inspect() -> None:
    plugin = find("extension", "inspect")
    assert plugin is not None and plugin.state == "ok", plugin
