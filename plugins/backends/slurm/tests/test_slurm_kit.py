"""The kit for backends passes, and an ordinary user may do the same."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mlecore_testing.backends import check_backend

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.sandbox]


def test_the_kit_passes(make_lab: Callable[..., Lab]) -> None:
    assert check_backend("slurm", make_lab().options) == []


PYTHON = "/usr/bin/python3"
USER = "nobody"
_SCRIPT = """
import os, sys
from pathlib import Path
from mlecore_testing.backends.harness import BackendBench
from mlecore.registry.loading import load

bench = BackendBench(load("backend", "slurm"), {"state": sys.argv[1] + "/state", "poll": "0.5"}, Path(sys.argv[1]))
handle, status = bench.run(bench.job("id -u; cat data/train.csv; exit 3", gpus=1))
print(os.getuid(), status.exit_code, status.sandbox.isolation is not None, bench.output(handle))
bench.clean_up()
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not below tmp_path, where only root can go."""
    folder = Path(tempfile.mkdtemp(prefix="mlecore-slurm-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_an_ordinary_user_runs_agents(make_lab: Callable[..., Lab], folder: Path) -> None:
    """With a virtual environment that every user can read, as on a shared disk."""
    make_lab()  # skips where no cluster answers
    if os.geteuid() != 0:
        pytest.skip("the other tests are an ordinary user's already")
    ask = [PYTHON, "-c", "import sysconfig; print(sysconfig.get_python_version())"]
    user = pwd.getpwnam(USER)
    packages = sysconfig.get_paths()["purelib"]
    version = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
    readable = subprocess.run(["ls", packages], user=user.pw_uid, capture_output=True, check=False).returncode == 0
    if version != sysconfig.get_python_version() or not readable:
        pytest.skip(f"{PYTHON} cannot use the packages of this environment as {USER}")
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "all.pth").write_text(f"import site; site.addsitedir({packages!r})\n")
    work = folder / "work"
    work.mkdir()
    os.chown(work, user.pw_uid, user.pw_gid)
    done = subprocess.run(
        [str(folder / "venv" / "bin" / "python"), "-c", _SCRIPT, str(work)],
        user=user.pw_uid, group=user.pw_gid, extra_groups=(), cwd="/", capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(work)}, umask=0o022,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{user.pw_uid} 3 True " + repr(b"1000\nid,y\n1,2\n")
    assert not [*(work / "state" / "queue").iterdir(), *(work / "state" / "jobs").iterdir()]
