"""The real kaggle client, pointed at a server on this machine; a home without credentials; tiny plugins."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mlecore.data.layout import DataDirs
from mlecore.model.facts import Facts
from mlecore.plugins.discovery import installed
from mlecore_testing.facts import some_facts
from mlecore_testing.site_packages import declare


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"kaggle_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fake = _load("server")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker of pytest-xdist has the one port at which the client looks for Kaggle: others would wait for it."""
    for item in items:
        if "kaggle" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("kaggle"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fresh home, with no credentials in it or in the environment."""
    for name in [name for name in os.environ if name.startswith(("KAGGLE_", "MLECORE_"))]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    (home / ".kaggle").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", str(home / ".kaggle"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("KAGGLE_API_ENVIRONMENT", "TEST")
    monkeypatch.setenv("NO_PROXY", "*")
    from mlecore.data.kaggle import client

    client.logout()
    if "kaggle" in sys.modules:  # it looks at the configuration folder when it is imported
        from kaggle.api.kaggle_api_extended import KaggleApi

        monkeypatch.setattr(KaggleApi, "config", str(home / ".kaggle" / "kaggle.json"))
    yield home
    client.logout()


@pytest.fixture
def token(home: Path) -> None:
    """The new kind of credentials."""
    (home / ".kaggle" / "access_token").write_text(fake.TOKEN + "\n")


@pytest.fixture
def kaggle(tmp_path: Path, home: Path) -> Iterator[Any]:
    folder = tmp_path / "storage"
    folder.mkdir()
    kaggle = fake.FakeKaggle(folder)
    server = fake.serve(kaggle)
    yield kaggle
    kaggle.sending.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """No waiting between attempts; the seconds that would have been waited."""
    from mlecore.data import http

    waited: list[float] = []
    monkeypatch.setattr(http, "sleep", waited.append)
    return waited


@pytest.fixture
def dirs(tmp_path: Path) -> DataDirs:
    return DataDirs((tmp_path / "data",))


@pytest.fixture
def make_facts(tmp_path: Path) -> Callable[..., Facts]:
    def make(id: str = "tiny", **more: Any) -> Facts:
        return some_facts(id, **{"kaggle": id, "folder": tmp_path, **more})

    return make


PLUGIN = """
from mlecore import hookimpl

@hookimpl
def prepare(raw, public, private):
    header, *rows = (raw / "train.csv").read_text().splitlines(keepends=True)
    (public / "train.csv").write_text(header + "".join(rows[2:]))
    (private / "test.csv").write_text(header + "".join(rows[:2]))
    (public / "sample.csv").write_text(header + "".join(row.partition(",")[0] + ",0\\n" for row in rows[:2]))

@hookimpl
def grade(submission, private):
    return 0.0
"""

TOML = """
id = "{id}"
title = "{id}"
kaggle = "{id}"
modality = "tabular"
task = "regression"
metric = "rmse"
direction = "minimize"
answers = "private/test.csv"
sample = "public/sample.csv"
{more}
[submission]
id = "id"
[submission.columns]
y = {{ type = "number" }}
[md5]
zip = "{md5}"
"""

RAW = {"train.csv": b"id,y\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(50))}


MLECORE = [sys.executable, "-c", "from mlecore.cli import main; main()"]


class Cli:
    """`mlecore` in a separate process, with tiny competitions installed and nothing else."""

    def __init__(self, site: Path) -> None:
        self.site = site
        real = ",".join(f"{plugin.kind}:{plugin.name}" for plugin in installed() if plugin.name != "vm")
        self.env = {**os.environ, "PYTHONPATH": str(site), "MLECORE_DISABLE_PLUGINS": real}

    def install(self, id: str, md5: str, more: str = "", plugin: str = PLUGIN) -> None:
        package = "mle_comp_" + id.replace("-", "_")
        folder = self.site / package
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(plugin)
        (folder / "competition.toml").write_text(TOML.format(id=id, md5=md5, more=more))
        (folder / "description.md").write_text(f"# {id}\n")
        declare(self.site, f"mle-comp-{id}", f"[mlecore.competitions]\n{id} = {package}\n")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*MLECORE, *arguments],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*MLECORE, *arguments], env=self.env, capture_output=True, text=True, check=False)

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json").stdout)


@pytest.fixture
def cli(tmp_path: Path, home: Path) -> Cli:
    return Cli(tmp_path / "site")


@pytest.fixture
def raw_files() -> dict[str, bytes]:
    return dict(RAW)


@pytest.fixture
def fault() -> Any:
    return fake.Fault


@pytest.fixture
def notebook() -> Any:
    return fake.Notebook
