"""A lab on whatever Slurm cluster answers here: one backend, its runs, and a check that nothing of them is left."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from mle_backend_slurm.entries import Entry
from mle_backend_slurm.slurm_backend import SlurmBackend

from mlecore.model.backends import Handle
from mlecore_testing.backends.harness import Lab as AnyLab

T = TypeVar("T")
PYTHON = "/usr/bin/python3"
USER = "nobody"


def slurm(*argv: str) -> str:
    """The output of one of Slurm's commands."""
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=300).stdout


def why_not() -> str | None:
    if shutil.which("sbatch") is None:
        return "Slurm's commands are not installed"
    try:
        nodes = slurm("sinfo", "--noheader", "--format=%T").split()
    except subprocess.SubprocessError:
        return "no Slurm cluster answers"
    return None if {"idle", "mixed", "allocated"} & set(nodes) else "no node of the Slurm cluster is up"


class Lab(AnyLab[SlurmBackend]):
    """One backend with a group of its own."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.options = {"state": str(folder / "state"), "poll": "0.5", **options}
        super().__init__(folder)
        self.backend = SlurmBackend(self.options)

    slurm = staticmethod(slurm)

    def another(self, **options: str) -> SlurmBackend:
        """The same backend, as another process would see it."""
        return SlurmBackend({**self.options, **options})

    def entry(self, handle: Handle) -> Entry:
        return Entry(self.folder / "state", handle.name)

    def task(self, handle: Handle) -> str:
        return self.until(self.entry(handle).task)

    def left(self) -> list[str]:
        """Files of runs and batches that are still there, and tasks that Slurm still has."""
        state = self.folder / "state"
        kinds = ("queue", "jobs", "batches", "new", "trash")
        return [str(path) for kind in kinds for path in (state / kind).glob("*")]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker of pytest-xdist has the cluster, since some tests take nodes away from all."""
    for item in items:
        if item.get_closest_marker("slurm") and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group("slurm"))


@pytest.fixture
def kept() -> str:
    """The node that no test takes away."""
    if (why := why_not()) is not None:
        pytest.skip(why)
    return max(_nodes())


@pytest.fixture
def not_kept(kept: str) -> dict[str, str]:
    """Options of a lab on the other nodes, where there are any."""
    return {"exclude": kept} if len(_nodes()) > 1 else {}


def _nodes() -> set[str]:
    return set(slurm("sinfo", "--noheader", "--Node", "--format=%N").split())


@pytest.fixture
def make_lab(tmp_path: Path) -> Iterator[Callable[..., Lab]]:
    if (why := why_not()) is not None:
        pytest.skip(why)
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)  # agents have another user where the tests are root's
    labs: list[Lab] = []

    def make(**options: str) -> Lab:
        labs.append(Lab(tmp_path, **options))
        return labs[-1]

    yield make
    for lab in labs:
        lab.clear()
        assert lab.left() == []


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_lab()


class OrdinaryUser:
    """With a virtual environment that every user can read, as on a shared disk, and a folder ``work`` of its own."""

    def __init__(self, folder: Path) -> None:
        self.user = pwd.getpwnam(USER)
        self.python = str(folder / "venv" / "bin" / "python")
        self.work = folder / "work"
        self.work.mkdir()
        os.chown(self.work, self.user.pw_uid, self.user.pw_gid)

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        user, env = self.user, {"PATH": os.environ["PATH"], "HOME": str(self.work)}
        return subprocess.run(
            argv, user=user.pw_uid, group=user.pw_gid, extra_groups=(), cwd="/", env=env, umask=0o022,
            capture_output=True, text=True, check=False,
        )  # fmt: skip


@pytest.fixture
def ordinary_user() -> Iterator[OrdinaryUser]:
    if os.geteuid() != 0:
        pytest.skip("the other tests are an ordinary user's already")
    ask = [PYTHON, "-c", "import sysconfig; print(sysconfig.get_python_version())"]
    uid, packages = pwd.getpwnam(USER).pw_uid, sysconfig.get_paths()["purelib"]
    version = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
    readable = subprocess.run(["ls", packages], user=uid, capture_output=True, check=False).returncode == 0
    if version != sysconfig.get_python_version() or not readable:
        pytest.skip(f"{PYTHON} cannot use the packages of this environment as {USER}")
    folder = Path(tempfile.mkdtemp(prefix="mlecore-slurm-"))  # not below tmp_path, where only root can go
    folder.chmod(0o755)
    try:
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
        (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
        (site / "all.pth").write_text(f"import site; site.addsitedir({packages!r})\n")
        yield OrdinaryUser(folder)
    finally:
        shutil.rmtree(folder)
