"""An environment and a package index of the test's own, for commands that pages show."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from mlecore_testing.package_index import serving

SCRIPT = "#!{python}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n"


@pytest.fixture
def follow(environment: dict[str, str], tmp_path: Path) -> Callable[..., tuple[Path, str]]:
    """Give every command of a page to a shell; returns the folder in which they ran, and what they printed."""

    def run(page: str, *, at_least: int) -> tuple[Path, str]:
        blocks = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        assert sum(block.count("\n") for block in blocks) >= at_least
        (folder := tmp_path / "work").mkdir()
        tmp_path.chmod(0o755)
        done = subprocess.run(
            ["bash", "-exc", "\n".join(blocks)],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return folder, done.stdout

    return run


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    """The folder of the index."""
    folder = tmp_path / "uploads"
    folder.mkdir()
    return folder


@pytest.fixture
def offer(uploads: Path) -> Callable[[str], None]:
    """Put an installed package and all that it needs on the index, packed again: no other index is asked."""

    def add(name: str) -> None:
        found = distribution(name)
        tags = email.message_from_string(found.read_text("WHEEL") or "").get_all("Tag", [])
        stem = f"{re.sub('[-_.]+', '_', found.name)}-{found.version}"
        target = uploads / f"{stem}-{tags[-1]}.whl"
        if target.exists():
            return
        with zipfile.ZipFile(target, "w") as wheel:
            for path in found.files or ():
                if ".." not in path.parts and path.name not in ("direct_url.json", "INSTALLER", "REQUESTED"):
                    wheel.write(str(path.locate()), str(path))
        for line in found.requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                add(requirement.name)

    return add


@pytest.fixture
def index(uploads: Path) -> Iterator[str]:
    """The address of a package index that takes uploads."""
    with serving(uploads) as at:
        yield f"http://{at}"


@pytest.fixture
def environment(tmp_path: Path, index: str, uv: str) -> dict[str, str]:
    """One of the test's own, with all that is installed here; and no way to an index but that of the test."""
    venv = tmp_path / "venv"
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, str(venv)], check=True)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(venv)}))
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if entry.suffix == ".dist-info":  # uv looks for folders
            shutil.copytree(entry, own / entry.name)
        elif not (own / entry.name).exists():
            (own / entry.name).symlink_to(entry)
    for name, module, function in (("mlecore", "mlecore.cli", "main"), ("pytest", "pytest", "main")):
        script = venv / "bin" / name
        script.write_text(SCRIPT.format(python=venv / "bin" / "python", module=module, function=function))
        script.chmod(0o755)
    path = os.pathsep.join([str(venv / "bin"), str(Path(uv).parent), os.environ["PATH"]])
    return {
        "PATH": path,
        "HOME": str(tmp_path / "home"),
        "VIRTUAL_ENV": str(venv),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_DEFAULT_INDEX": f"{index}/simple/",
        "UV_PUBLISH_URL": index,
        "UV_PUBLISH_TOKEN": "pypi-none",
        "UV_PYTHON_DOWNLOADS": "never",
        "NO_PROXY": "127.0.0.1",
    }
