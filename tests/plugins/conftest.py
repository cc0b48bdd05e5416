"""Distributions made of a few files: all that an installed package is to the registry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlecore_testing.site_packages import declare, forget

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
def put(site_packages: Path) -> Put:
    """``put(distribution, module, source)``: as if it had been installed; returns the module's file."""

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
        into: Path = site_packages,
    ) -> Path:
        into.mkdir(exist_ok=True)
        file = into.joinpath(*module.split(".")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        name = name or distribution.rpartition("-")[2]
        points = points or f"[mlecore.{kind}s]\n{name} = {module}\n"
        points = f"[console_scripts]\nx = {module}:main\n\n{points}"
        declare(into, distribution, points, version, f"Summary: of {distribution}\n{headers}")
        forget()
        return file

    return install


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
