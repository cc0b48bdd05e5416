"""Distributions made of a few files: all that an installed package is to the registry."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mlecore.model import facts
from mlecore.plugins import discovery, entry_points, loading

Put = Callable[..., Path]

AGENT = """
from mlecore.model.agents import Agent, Launch
from mlecore.hookspecs import hookimpl


@hookimpl
def agent():
    return Agent(summary="{summary}")


@hookimpl
def launch(task):
    return Launch(argv=("true",))
"""

FACTS = """
id = "{id}"
title = "Title of {id}"
modality = "tabular"
task = "regression"
metric = "rmse"
direction = "minimize"
answers = "private/test.csv"
sample = "public/sample_submission.csv"
[submission]
id = "id"
columns.y = {{ type = "number" }}
"""
COMPETITION = """
from mlecore.hookspecs import hookimpl


@hookimpl
def prepare(raw, public, private):
    return None


@hookimpl
def grade(submission, private):
    return 0.0
"""


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Put]:
    """``put(distribution, module, source)``: as if it had been installed; returns the module's file."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    modules: set[str] = set()

    def install(
        distribution: str,
        module: str,
        source: str = AGENT,
        *,
        kind: str = "agent",
        name: str | None = None,
        version: str = "1.0",
        headers: str = "",
        points: str | None = None,
        into: Path = site,
    ) -> Path:
        into.mkdir(exist_ok=True)
        file = into.joinpath(*module.split(".")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        info = into / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\nSummary: of {distribution}\n"
        (info / "METADATA").write_text(f"{metadata}{headers}\nA long README: with a colon\n")
        name = name or distribution.rpartition("-")[2]
        points = points or f"[mlecore.{kind}s]\n{name} = {module}\n"
        (info / "entry_points.txt").write_text(f"[console_scripts]\nx = {module}:main\n\n{points}")
        modules.add(module.partition(".")[0])
        forget()
        return file

    forget()
    yield install
    for name in list(sys.modules):
        if name.partition(".")[0] in modules:
            del sys.modules[name]
    monkeypatch.undo()
    forget()


@pytest.fixture
def put_competition(put: Put) -> Put:
    """``put_competition(id)``: a competition that works, in a package; returns the file of its module."""

    def install(id: str, before: str = "") -> Path:
        file = put(f"mle-comp-{id}", f"{id}_comp.main", before + COMPETITION, kind="competition", name=id)
        (file.parent / "__init__.py").write_text(before)
        (file.parent / "competition.toml").write_text(FACTS.format(id=id))
        (file.parent / "description.md").write_text("What to do.")
        forget()
        return file

    return install


def forget() -> None:
    """What is installed has changed."""
    for cache in (
        discovery._points,
        discovery._of_kind,
        discovery.find,
        loading.load,
        entry_points.spec_of,
        facts.read_facts,
    ):
        cache.cache_clear()
    loading.load_extensions.cache_clear()
