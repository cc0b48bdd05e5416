"""docs/publishing.md, word for word: every command in it is run, in its own environment and with its own index."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "publishing.md").read_text(encoding="utf-8")
SCRIPT = "#!{python}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n"


@pytest.fixture
def index() -> Iterator[object]:
    with _load("index").index() as server:
        yield server


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"mlecore_test_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def environment(tmp_path: Path, index, uv: str) -> dict[str, str]:  # type: ignore[no-untyped-def]
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
        "UV_DEFAULT_INDEX": f"{index.url}/simple/",
        "UV_PUBLISH_URL": f"{index.url}/legacy/",
        "UV_PUBLISH_TOKEN": "pypi-none",
        "UV_PYTHON_DOWNLOADS": "never",
        "NO_PROXY": "127.0.0.1",
    }


@pytest.mark.slow
def test_every_command_of_the_page(environment: dict[str, str], tmp_path: Path, index) -> None:  # type: ignore[no-untyped-def]
    commands = re.findall(r"^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert sum(block.count("\n") for block in commands) >= 12
    folder = tmp_path / "work"
    folder.mkdir()
    done = subprocess.run(
        ["bash", "-exc", "\n".join(commands)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert set(index.files) == {"mle_comp_my_problem-0.1.0-py3-none-any.whl", "mle_comp_my_problem-0.1.0.tar.gz"}
    installed = tmp_path / "venv" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    assert (installed / "mle_comp_my_problem" / "competition.toml").is_file()  # from the wheel, not editable
    last = done.stdout.rpartition("+ mlecore plugins show my-problem")[2]
    assert "state:        ok" in last


def test_what_the_page_names_is_there() -> None:
    for path in re.findall(r"`(mlecore/\S+?\.py)`", TEXT):
        assert (ROOT / path).is_file(), path
    import mlecore.testing

    for name in re.findall(r"`(check_\w+)", TEXT):
        assert name in mlecore.testing.__all__


def test_the_waiver_that_it_shows_can_be_read() -> None:
    import tomllib

    from mlecore.testing.competitions import RULES

    (block,) = re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    (waiver,) = tomllib.loads(block)["waive"]
    assert waiver["rule"] in [rule.name for rule in RULES]
