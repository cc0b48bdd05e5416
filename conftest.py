"""For all tests, of the core and of the plugins beside it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# Published test parts of 20,000 files or 100,000 rows, whatever the size: the short lane leaves their kits out.
LARGE = {"AI4Code", "alaska2-image-steganalysis", "tabular-playground-series-may-2022"}


CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--turn",
        default="1/1",
        metavar="K/N",
        help="of the tests that take turns, only those of turn K of N; default: all",
    )


@pytest.hookimpl(tryfirst=True)  # before pytest selects by markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Start the conformance kits first, as they take longest: the other tests then fill the gaps between workers."""
    turn, turns = map(int, config.getoption("--turn").split("/"))
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.xdist_group("browser"))  # one worker starts it once
        if item.get_closest_marker("conformance") and item.competition in LARGE:  # type: ignore[attr-defined]
            item.add_marker("slow")
    left_out = {item for item in items if not _is_on(item, turn, turns)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: item.get_closest_marker("conformance") is None)


def _is_on(item: pytest.Item, turn: int, turns: int) -> bool:
    """What takes long takes turns: kits, and slow tests; of a competition with all N turns, else with at most six.

    What is marked as ``in_turn``, such as one page of many, has the number of turns that it says. All slow tests of a
    competition have the same turn, and so have those of any other file, since they share what they set up.
    """
    marker = item.get_closest_marker("in_turn")
    package = item.path.parent.parent
    if marker:
        named = getattr(item, "callspec", None) and item.callspec.params.get("competition")  # type: ignore[attr-defined]
        key = named or item.nodeid
        turns = min([turns, *marker.args])
    elif not any(map(item.get_closest_marker, ("conformance", "slow"))):
        return True
    elif package.parent.name == "competitions":
        key = package.name
    else:
        key = str(item.path.relative_to(item.config.rootpath))
        turns = min(turns, 6)
    return zlib.crc32(key.encode()) % turns == turn % turns


@pytest.fixture(scope="session")
def _chromium() -> Iterator[Any]:
    from mlecore_testing.browser import Browser

    opened = Browser(allowed=("http://127.0.0.1:", "file:", "data:"))
    yield opened
    opened.close()


@pytest.fixture
def browser(_chromium: Any) -> Iterator[Any]:
    """Chromium, started once: an empty page, and no problems so far. Tests with it need the marker `browser`."""
    _chromium.problems.clear()
    yield _chromium
    _chromium.open("about:blank")  # closes the event streams of the page


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, from the npm registry. Tests with it need the marker `network`."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("axe")
    words = ["npm", "pack", "--silent", "axe-core@4.11.0"]
    packed = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
    if packed.returncode:
        pytest.skip(f"npm cannot fetch axe-core: {packed.stderr.strip()[-200:]}")
    with tarfile.open(folder / packed.stdout.split()[-1]) as archive:
        source = archive.extractfile("package/axe.min.js")
        assert source is not None
        return source.read().decode()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this machine has no means for."""
    if item.get_closest_marker("browser") and not any(map(shutil.which, CHROMIUM)):
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    if item.get_closest_marker("sandbox") and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if item.get_closest_marker("docker") and (missing := _no_engine()):
        pytest.skip(missing)


@cache
def _no_engine() -> str:
    """Why there is no Docker engine; empty if there is one."""
    from mlecore.errors import BackendError
    from mlecore.registry.opening import open_backend

    try:
        problems = [problem for problem in open_backend("docker", {}).backend.preflight() if problem.fatal]
    except BackendError as error:
        return str(error)
    return problems[0].description if problems else ""


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[None]:
    """Nothing of the user's: the key that seals groups, judges' answers, and Dolos, which is built once and kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLECORE_STATE", str(tmp_path_factory.mktemp("state")))
        patch.setenv("MLECORE_RULES", str(tmp_path_factory.mktemp("rules")))
        if "MLECORE_DOLOS" not in os.environ:
            patch.setenv("MLECORE_DOLOS", str(pytestconfig.cache.mkdir("dolos")))
        yield


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Any]:
    """A disk that can lose power and go away; see disks.py."""
    spec = importlib.util.spec_from_file_location("mlecore_test_disks", Path(__file__).parent / "tests" / "disks.py")
    assert spec and spec.loader
    disks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(disks)
    try:
        made = disks.Disk(tmp_path / "own-disk")
    except disks.NoDisk as error:
        pytest.skip(str(error))
    yield made
    made.close()
