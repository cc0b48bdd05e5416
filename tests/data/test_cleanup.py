"""What a killed command leaves is seen, and removed, and what is in use is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlecore.data.cleanup import leftovers
from mlecore.data.lock import lock
from mlecore.util.scratch import scratch

PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
MINUTE_AGO = time.time() - 60


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def killed_with_a_scratch_folder(temporary: Path) -> Path:
    script = "from mlecore.util.scratch import scratch\nwith scratch() as folder:\n print(folder, flush=True)\n input()"
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen([sys.executable, "-c", script], text=True, env=environment, **PIPES) as child:
        assert child.stdout
        folder = Path(child.stdout.readline().strip())
        (folder / "sample.csv").write_text("id\n")
        os.utime(folder, (MINUTE_AGO, MINUTE_AGO))
        assert leftovers(temporary) == []  # it lives
        child.send_signal(signal.SIGKILL)
    return folder


def test_the_next_scratch_folder_sweeps_that_of_a_killed_command(temporary: Path) -> None:
    folder = killed_with_a_scratch_folder(temporary)
    assert [left.path for left in leftovers(temporary)] == [folder]
    with scratch() as mine:
        os.utime(mine, (MINUTE_AGO, MINUTE_AGO))
        assert not folder.exists() and leftovers(temporary) == []
        with scratch():
            assert mine.is_dir()
    assert list(temporary.iterdir()) == []


def test_what_a_killed_preparation_left_is_found_unless_somebody_prepares(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "tiny"
    for name in ("raw.trash", "prepared.partial", "prepared", "prepared.old", "raw.old", "synthetic/raw.partial"):
        (folder / name).mkdir(parents=True)
    (folder / "raw.trash" / "big").write_bytes(bytes(5000))
    for name in ("tiny.zip.partial", "tiny.zip", ".raw.json.tmp"):
        (folder / name).touch()
    with lock(folder, "preparing"):
        assert leftovers(tmp_path / "data") == []
    found = {left.path.relative_to(folder).as_posix(): left for left in leftovers(tmp_path / "data")}
    assert sorted(found) == [".raw.json.tmp", "prepared.old", "prepared.partial", "raw.trash", "synthetic/raw.partial"]
    assert found["raw.trash"].bytes >= 5000
    for left in found.values():
        left.remove()
    assert leftovers(tmp_path / "data") == []
    assert {"prepared", "raw.old", "tiny.zip.partial", "tiny.zip"} <= {path.name for path in folder.iterdir()}
