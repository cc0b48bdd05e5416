"""A competition made on the spot: a module and its metadata in a folder on the import path."""

from pathlib import Path

import pytest
from attrs import evolve

from mlecore.data import manifest
from mlecore.data.prepared import Prepared
from mlecore_testing.site_packages import declare

MODULE = """
import os
import time
from mlecore import InvalidSubmission, hookimpl

@hookimpl
def prepare(raw, public, private):
    pass

@hookimpl
def grade(submission, private):
    frame = submission.frame()
    if "value" not in frame:
        raise InvalidSubmission("the column value is missing")
    value = frame["value"].iloc[0]
    if value == "bug":
        raise KeyError("bug")
    if value == "slow":
        time.sleep(3600)
    if value == "greedy":
        bytearray(3 << 30)
    if value == "die":
        os.kill(os.getpid(), 9)
    return float(value)

@hookimpl
def examine(submission):
    grade(submission, None)
    return [f"checked in process {os.getpid()}"]
"""
FACTS = """
id = "tiny"
title = "Tiny"
modality = "tabular"
task = "regression"
metric = "value"
direction = "maximize"
answers = "private/answers.csv"
sample = "public/sample.csv"
[thresholds]
gold = 0.9
silver = 0.8
bronze = 0.7
median = 0.5
[limits]
seconds = 600
memory_gb = 1.5
[submission]
ids = "any"
rows = "any"
order = "sample"
[submission.columns]
value = { type = "any" }
"""


def fetched(data: Prepared) -> Prepared:
    """As if mlecore had got the data itself."""
    head = {"competition": data.competition, "edition": data.edition, "plugin_version": "1.0", "source": "fetch"}
    entries = manifest.entries(data.root)
    return evolve(data, manifest=manifest.write(data.root, entries, **head, verified=False, created_at=""))


@pytest.fixture
def tiny(site_packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """Installs the competition "tiny"; gives prepared data of it."""
    package = site_packages / "mle_comp_tiny"
    package.mkdir()
    (package / "__init__.py").write_text(MODULE)
    (package / "competition.toml").write_text(FACTS)
    (package / "description.md").write_text("# Tiny\n")
    declare(site_packages, "mle-comp-tiny", "[mlecore.competitions]\ntiny = mle_comp_tiny\n")
    monkeypatch.setenv("PYTHONPATH", str(site_packages))
    prepared = tmp_path / "tiny" / "prepared"
    for folder in ("public", "private"):
        (prepared / folder).mkdir(parents=True)
    (prepared / "public" / "sample.csv").write_text("id,value\n1,0.1\n")
    (prepared / "private" / "answers.csv").write_text("id,value\n1,1.0\n")
    return fetched(Prepared(competition="tiny", root=prepared))
