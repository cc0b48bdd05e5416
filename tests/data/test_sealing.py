"""Answers that are kept elsewhere: all works where they can be read, and says so where they cannot."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mlecore.data.layout import DataDirs
from mlecore.data.opening import open_prepared
from mlecore.data.prepared import Prepared
from mlecore.data.preparing import prepare
from mlecore.data.recheck import recheck, require_grading_data, require_unchanged
from mlecore.data.sealing import seal
from mlecore.data.sources import Fetch, Synthetic
from mlecore.errors import DataError, UsageError
from mlecore.util import files

NOBODY = 65534


@pytest.fixture
def data(tiny, dirs: DataDirs) -> Prepared:  # type: ignore[no-untyped-def]
    return prepare(tiny, dirs, Synthetic()).prepared


def test_sealed_answers_grade_and_verify(tiny, dirs: DataDirs, data: Prepared, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    digests, answers = (data.digest, data.private_digest), (data.private / "test.csv").read_bytes()
    target = seal(data, tmp_path / "safe", dirs)
    assert (target / "test.csv").read_bytes() == answers and target.stat().st_mode & 0o777 == 0o700
    assert [path for path in (tmp_path / "data").rglob("test.csv") if not path.is_symlink()] == []
    found = open_prepared(tiny, dirs, synthetic=True)
    assert (found.sealed, (found.digest, found.private_digest)) == (target, digests)
    require_grading_data(tiny.facts, found)
    require_unchanged(found, dirs)
    assert recheck(tiny, dirs, synthetic=True) == []
    (target / "test.csv").write_text("id,y\n")
    with pytest.raises(DataError, match="were changed"):
        require_grading_data(tiny.facts, found)
    assert recheck(tiny, dirs, synthetic=True)


def test_answers_on_another_machine(tiny, dirs: DataDirs, data: Prepared, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    target = seal(data, tmp_path / "safe", dirs)
    target.rename(tmp_path / "away")
    found = open_prepared(tiny, dirs, synthetic=True)
    require_unchanged(found, dirs)  # agents can work
    require_unchanged(found, dirs, everything=True)
    for check in (lambda: require_grading_data(tiny.facts, found), lambda: recheck(tiny, dirs, synthetic=True)):
        with pytest.raises(DataError, match=rf"sealed in {target}.*cannot read here"):
            check()
    (found.public / "train.csv").write_text("id,y\n")
    assert recheck(tiny, dirs, synthetic=True) == [f"public/train.csv: {_size(found, 'public/train.csv')}"]
    with pytest.raises(DataError, match=r"public/train\.csv"):
        require_unchanged(found, dirs)


def _size(data: Prepared, path: str) -> str:
    from mlecore.data.manifest import find_files

    (entry,) = find_files(data.lists, [path])
    return f"has 5 bytes, expected {entry.size}"


def test_a_kill_at_any_moment(tiny, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for moment in range(100):
        home = tmp_path / str(moment)
        dirs = DataDirs((home / "data",))
        data = prepare(tiny, dirs, Synthetic()).prepared
        answers = (data.private / "test.csv").read_bytes()
        left = iter(range(moment))

        def killed(operation: str, path: Path, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        try:
            with files.faults(killed):
                seal(data, home / "safe", dirs)
            done = True
        except KeyboardInterrupt:
            done = False
            seal(data, home / "safe", dirs)
        assert data.sealed and (data.private / "test.csv").read_bytes() == answers
        assert {path.name for path in data.root.iterdir()} == {"manifest.files", "manifest.json", "private", "public"}
        assert len(list((home / "safe").rglob("test.csv"))) == 1
        if done:
            break
    assert 5 < moment < 99


def test_what_is_not_sealed(tiny, dirs: DataDirs, data: Prepared, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match="data directory"):
        seal(data, tmp_path / "data" / "tiny", dirs)
    with pytest.raises(UsageError, match="is not changed"):
        seal(data, tmp_path / "safe", DataDirs((tmp_path / "mine", *dirs.dirs)))
    seal(data, tmp_path / "safe", dirs)
    with pytest.raises(UsageError, match="sealed already"):
        seal(data, tmp_path / "safer", dirs)
    # other answers go beside, and replace none
    other = prepare(tiny, dirs, Synthetic(seed=9), force=True).prepared
    assert other.sealed is None
    seal(other, tmp_path / "safe", dirs)
    assert len(list((tmp_path / "safe").iterdir())) == 2


def as_nobody(check: Callable[[], object]) -> str:
    """What the function raises in a process of another user, or "nothing"."""
    read, write = os.pipe()
    if os.fork() == 0:
        said = "nothing"
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            check()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    os.wait()
    return said


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_another_user_runs_agents_and_cannot_read_the_answers(tiny) -> None:  # type: ignore[no-untyped-def]
    home = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        home.chmod(0o755)
        dirs = DataDirs((home / "data",))
        data = prepare(tiny, dirs, Fetch()).prepared
        target = seal(data, home / "safe", dirs)
        found = open_prepared(tiny, dirs)
        assert as_nobody(lambda: require_unchanged(found, dirs)) == "nothing"
        assert as_nobody((found.public / "train.csv").read_bytes) == "nothing"
        assert as_nobody((target / "test.csv").read_bytes).startswith("PermissionError")
        assert "cannot read here" in as_nobody(lambda: require_grading_data(tiny.facts, found))
    finally:
        shutil.rmtree(home)
