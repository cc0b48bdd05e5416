"""What comes out of a container, running or ended: what was asked for, regular files only, within the limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mlecore.errors import BackendError

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = pytest.mark.docker

MAKE = """
echo 1 >submission/submission.csv
mkdir -p logs/deep/er code/src agent/work; echo log >logs/agent.log; echo deep >logs/deep/er/x.log
echo code >code/src/a.py; echo best >agent/work/best.csv; echo other >agent/work/other.txt
"""


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.parametrize("running", [True, False])
def test_globs_bring_what_they_name_and_what_is_below(lab: Lab, tmp_path: Path, running: bool) -> None:
    handle = lab.start(MAKE + ("echo up; sleep 100" if running else "echo up"))
    lab.said(handle, "up")
    if not running:
        lab.wait(handle)
    globs = ["submission/submission.csv", "logs", "agent/**/*.csv", "code/*", "nothing/here", "no/*.such"]
    fetched = lab.backend.fetch(handle, globs, tmp_path / "out", 1 << 20, 1000)
    expected = [
        "agent/work/best.csv",
        "code/src/a.py",
        "logs/agent.log",
        "logs/deep/er/x.log",
        "submission/submission.csv",
    ]
    assert names(tmp_path / "out") == expected
    assert (fetched.files, fetched.bytes, fetched.refused, fetched.complete) == (5, 21, (), True)
    assert (tmp_path / "out/logs/deep/er/x.log").read_text() == "deep\n"
    assert (tmp_path / "out/code/src/a.py").stat().st_mode & 0o777 == 0o644


def test_a_glob_from_the_top_brings_no_data(lab: Lab, tmp_path: Path) -> None:
    handle = lab.start(MAKE + "echo up; sleep 100")
    lab.said(handle, "up")
    fetched = lab.backend.fetch(handle, ["*/*.csv", "**/other.txt"], tmp_path / "out", 1 << 20, 1000)
    assert names(tmp_path / "out") == ["agent/work/other.txt", "submission/submission.csv"]
    assert fetched.complete
    assert len(lab.left()["containers"]) == 1  # the one that was made to look is gone


HOSTILE = """
cd logs; ln -s /etc/passwd link; ln -s /home/data data; mkfifo fifo; ln -s . loop; echo fine >'name with
newline'; printf x >"$(printf 'bad\\377name')"; echo a >a; ln a b; mkdir -p sub; ln -s /etc sub/up
python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('sock')"
cd ..; rmdir code; ln -s /etc code; ls -l logs >/dev/null; rmdir submission || true
"""


def test_links_and_special_files_are_refused_and_reported(lab: Lab, tmp_path: Path) -> None:
    handle = lab.start(HOSTILE)
    lab.wait(handle)
    fetched = lab.backend.fetch(
        handle, ["logs", "logs/data/train.csv", "logs/sub/up/passwd"], tmp_path / "out", 1 << 20, 1000
    )
    assert (tmp_path / "out/logs/a").read_text() == (tmp_path / "out/logs/b").read_text() == "a\n"
    assert (tmp_path / "out/logs/name with\nnewline").read_text() == "fine\n"
    assert not any(path.is_symlink() or path.is_fifo() for path in (tmp_path / "out").rglob("*"))
    assert not (tmp_path / "out/logs/data").exists() and not (tmp_path / "out/logs/sub/up").exists()
    said = "\n".join(fetched.refused)
    for what in ("logs/link: a symbolic link", "logs/loop: a symbolic link", "logs/fifo: a FIFO"):
        assert what in said
    assert "logs/data: a link or no folder" in said and "logs/sub/up: a link or no folder" in said
    assert fetched.complete  # what was rejected is no part of it


def test_the_limit_holds_for_large_and_sparse_files(lab: Lab, tmp_path: Path) -> None:
    handle = lab.start(
        "truncate -s 1T logs/a-sparse; head -c 1000 /dev/zero >logs/b; head -c 900 /dev/zero >logs/c;"
        "echo 1 >submission/s"
    )
    lab.wait(handle)
    fetched = lab.backend.fetch(handle, ["submission", "logs/b", "logs/c", "logs"], tmp_path / "out", 1500, 1000)
    assert names(tmp_path / "out") == ["logs/b", "submission/s"]
    assert (fetched.complete, fetched.bytes) == (False, 1002)
    assert any("limit of 1500" in line for line in fetched.refused)


def test_a_hundred_thousand_refusals_are_counted_in_few_lines(lab: Lab, tmp_path: Path) -> None:
    handle = lab.start('exec python3 -c "import os; [os.symlink(\\"x\\", f\\"logs/{n}\\") for n in range(3000)]"')
    lab.wait(handle)
    fetched = lab.backend.fetch(handle, ["logs"], tmp_path / "out", 1500, 1000)
    assert len(fetched.refused) == 101 and fetched.files == 0


def test_fetching_from_what_is_gone_is_an_error(lab: Lab, tmp_path: Path) -> None:
    handle = lab.start("true")
    lab.backend.remove(handle)
    with pytest.raises(BackendError, match="no longer at this engine"):
        lab.backend.fetch(handle, ["logs"], tmp_path / "out", 100, 1000)
