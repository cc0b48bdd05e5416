"""Windows' Python in Wine. See CONTRIBUTING.md for what it takes."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from mlecore.child_environment import child_environment

Command = Callable[..., subprocess.CompletedProcess[str]]


def shown(path: Path) -> str:
    """As Windows spells the path."""
    return f"Z:{path}".replace("/", "\\")


@pytest.fixture(scope="session")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """Runs Windows' Python with arguments, in which a path is spelled as Windows does."""
    python = Path(os.environ.get("MLECORE_WINDOWS_PYTHON", "missing"), "python.exe")
    if not python.is_file():
        pytest.skip("MLECORE_WINDOWS_PYTHON does not name the folder of a Python for Windows")
    if not shutil.which("wine"):
        pytest.skip("Wine is missing")
    folder = tmp_path_factory.mktemp("wine")
    members(folder / "members")
    environment = child_environment() | {
        "WINEPREFIX": str(folder / "prefix"),
        "WINEDEBUG": "-all",
        "PYTHONPATH": f"{shown(folder / 'members')};{shown(Path(__file__).parent)}",
    }

    def start(*command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["wine", *(shown(each) if isinstance(each, Path) else each for each in command)],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=folder,
            timeout=600,
        )

    try:
        start("winecfg", "-v", "win10")
        yield partial(start, str(python))
    finally:
        subprocess.run(["wineserver", "-k"], env=environment, check=False)


def members(folder: Path) -> None:
    """The packages of this workspace, as if they were installed in ``folder``."""
    folder.mkdir()
    for distribution in importlib.metadata.distributions():
        name = distribution.name.replace("-", "_")
        metadata = Path(str(distribution.locate_file(f"{name}-{distribution.version}.dist-info")))
        if not name.startswith("mle") or not metadata.is_dir():
            continue
        shutil.copytree(metadata, folder / metadata.name)
        for module in {name, *(point.module.partition(".")[0] for point in distribution.entry_points)}:
            spec = importlib.util.find_spec(module)
            if spec and spec.submodule_search_locations and not (folder / module).exists():
                (folder / module).symlink_to(spec.submodule_search_locations[0])
