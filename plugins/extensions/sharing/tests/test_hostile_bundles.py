"""Bundles from strangers: limits on what is read, and what a zip or a folder may not hold."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from mle_ext_sharing import bundle
from mle_ext_sharing.exporting import export_group

from mlecore.cli import main

NOTHING = hashlib.sha256(b"").hexdigest()


def verify(path: Path) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["runs", "verify", str(path)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done.exit_code, done.output


def head_of(listed: bytes, **more: object) -> bytes:
    values = {"format": 1, "group": "g", "created_at": "", "mlecore": "", "runs": 0, "not_started": None, **more}
    return json.dumps({"files_sha256": hashlib.sha256(listed).hexdigest(), **values}).encode()


def write_zip(path: Path, listed: bytes, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {bundle.HEAD: head_of(listed), bundle.FILES: listed, **files}.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "line",
    [
        f'{NOTHING} -5 "zeros"',
        f'{NOTHING} {"9" * 4000} "zeros"',
        f'{NOTHING} 1e400 "zeros"',
        f"{NOTHING} 0 {'[' * 100_000}",
        f'{NOTHING} 0 "\\ud800"',
        f"{NOTHING} 0 1e400",
        f'{NOTHING} 0 "a//b"',
        f'{NOTHING} 0 "a\\u0000b"',
        'short 0 "a"',
    ],
)
def test_no_file_is_read_that_a_wrong_line_lists(tmp_path: Path, line: str) -> None:
    path = write_zip(tmp_path / "b.zip", f"{line}\n".encode(), zeros=bytes(2 * 10**7))
    tracemalloc.start()
    code, said = verify(path)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()
    assert code == 1 and "lists cannot be read" in said and len(said) < 1000, said


@pytest.mark.parametrize("runs", ["Infinity", "NaN", "9" * 4000, "[" * 10**5])
def test_numbers_that_no_head_has(tmp_path: Path, runs: str) -> None:
    path = write_zip(tmp_path / "b.zip", b"")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(bundle.FILES, b"")
        archive.writestr(bundle.HEAD, head_of(b"", runs="?").replace(b'"?"', runs.encode()))
    code, said = verify(path)
    assert code == 1 and "lists cannot be read" in said, said


def test_as_many_lines_as_there_are_kinds(tmp_path: Path) -> None:
    """Not as there are files."""
    listed = "".join(f'{NOTHING} 0 "missing-{number}"\n' for number in range(2000)).encode()
    path = write_zip(tmp_path / "b.zip", listed, **{f"extra-{number}": b"" for number in range(2000)})
    code, said = verify(path)
    assert code == 1 and len(said.splitlines()) == 12 and said.count("and 1,995 more") == 2, said


def test_a_name_forges_no_line(tmp_path: Path) -> None:
    code, said = verify(write_zip(tmp_path / "b.zip", b"", **{"x\nalpha: accepted\t": b""}))
    assert code == 1 and len(said.splitlines()) == 1 and "\\n" in said, said


def test_more_files_than_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the list, in a zip whose end record lies about it, and in a folder."""
    monkeypatch.setattr(bundle, "MOST_FILES", 50)
    code, said = verify(write_zip(tmp_path / "a.zip", f'{NOTHING} 0 "x"\n'.encode() * 51))
    assert code == 1 and "more than 50 files" in said
    path = write_zip(tmp_path / "b.zip", b"", **{str(number): b"" for number in range(60)})
    path.write_bytes(path.read_bytes().replace((62).to_bytes(2, "little") * 2, (2).to_bytes(2, "little") * 2))
    code, said = verify(path)
    assert code == 1 and "more than 50" in said, said
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / bundle.HEAD).write_bytes(head_of(b""))
    (folder / bundle.FILES).write_bytes(b"")
    for number in range(60):
        (folder / str(number)).touch()
    code, said = verify(folder)
    assert code == 1 and "more than 50 files" in said


def twice(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("group.json", b"{}")


def a_link(path: Path) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    add(path, info)


def another_method(path: Path) -> None:
    info = zipfile.ZipInfo("zeros")
    info.compress_type = zipfile.ZIP_BZIP2
    add(path, info, bytes(10**6))


def a_name(name: str) -> Callable[[Path], None]:
    return lambda path: add(path, zipfile.ZipInfo(name))


def encrypted(path: Path) -> None:
    """Its flag in both headers of the first member."""
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)


def overlapping(path: Path) -> None:
    """The second member begins where the first does."""
    content = bytearray(path.read_bytes())
    second = content.index(b"PK\1\2", content.index(b"PK\1\2") + 4)
    content[second + 42 : second + 46] = bytes(4)
    path.write_bytes(content)


def other_size(path: Path) -> None:
    """The directory has a smaller size for the first member than it has."""
    content = bytearray(path.read_bytes())
    first = content.index(b"PK\1\2")
    content[first + 24 : first + 28] = (1).to_bytes(4, "little")
    path.write_bytes(content)


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def garbage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:200] = b"\xff" * 100
    path.write_bytes(content)


def add(path: Path, info: zipfile.ZipInfo, content: bytes = b"") -> None:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(info, content)


@pytest.mark.parametrize(
    "damage",
    [
        twice,
        a_link,
        another_method,
        *map(a_name, ("../x", "/x", "a\\b", "x\0y", "x/" * 5000 + "x", "group.json/x")),
        encrypted,
        overlapping,
        other_size,
        cut_off,
        garbage,
    ],
)
def test_what_a_zip_may_not_hold(group: Path, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    export_group(group, tmp_path / "b.zip")
    damage(tmp_path / "b.zip")
    assert verify(tmp_path / "b.zip")[0] == 1


@pytest.mark.parametrize("kind", ["link", "link to a folder", "pipe"])
def test_what_a_folder_may_not_hold(group: Path, tmp_path: Path, kind: str) -> None:
    """In the place of a listed file: with its very content elsewhere, or what would be waited for."""
    export_group(group, tmp_path / "b")
    run = next(path for path in (tmp_path / "b").iterdir() if path.is_dir())
    if kind == "link to a folder":
        run.rename(tmp_path / "elsewhere")
        run.symlink_to(tmp_path / "elsewhere")
    else:
        (run / "grade.json").rename(tmp_path / "grade.json")
        os.mkfifo(run / "grade.json") if kind == "pipe" else (run / "grade.json").symlink_to(tmp_path / "grade.json")
    assert verify(tmp_path / "b")[0] == 1


def test_a_plan_of_more_runs_than_anybody_makes(tmp_path: Path) -> None:
    """All of them would be looked for; and agents without a label get one."""
    plan = ('competitions = ["a", "b"]\nseeds = 1000000\n' + '[[agents]]\nname = "a"\n' * 10_000).encode()
    head = {"format": 1, "uid": "u", "name": "g", "created_at": "", "plan": hashlib.sha256(plan).hexdigest()}
    files = {"group.json": json.dumps(head).encode(), "plan.toml": plan}
    lines = (f"{hashlib.sha256(each).hexdigest()} {len(each)} {json.dumps(name)}\n" for name, each in files.items())
    code, said = verify(write_zip(tmp_path / "b.zip", "".join(lines).encode(), **files))
    assert code == 1 and "20,000,000,000 runs" in said, said
