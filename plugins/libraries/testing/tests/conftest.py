"""Plugins for the kit to judge: those that `mlecore new` writes, whole or with one thing broken."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from mle_ext_own_data.examples import example

import mlecore_testing.competitions.harness as harness_module
from mlecore import competition
from mlecore_testing.competitions import RULES, data
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Stop
from mlecore_testing.scaffold import package, write
from mlecore_testing.site_packages import declare, forget

WITHOUT_DATA = {"facts", "light", "description", "raw", "prepare", "raw-untouched"}

Edits = dict[str, tuple[str, str]]  # file of the package -> (old, new); an empty old appends
Install = Callable[..., str]
Judge = Callable[..., list[str]]


@pytest.fixture
def install(site_packages: Path, tmp_path: Path) -> Install:
    """``install(kind, name, edits)``: a new plugin on the path, found like any other."""

    def put(kind: str, name: str, edits: Edits | None = None) -> str:
        made = example(name) if kind == "competition" else package(kind, name)
        folder = write(made, tmp_path)
        target = site_packages / made.module
        shutil.copytree(folder / made.module, target)
        for file, (old, new) in (edits or {}).items():
            text = (target / file).read_text()
            assert old in text, f"{file} has no {old!r}"
            (target / file).write_text(text.replace(old, new) if old else text + new)
        declare(site_packages, made.distribution, f"[mlecore.{kind}s]\n{name} = {made.module}\n")
        forget()
        return name

    return put


@pytest.fixture
def harness_of(install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Harness]:
    """``harness_of(edits)``: the new competition with these edits."""
    monkeypatch.setattr(harness_module, "MUTANTS", 320)

    def made(edits: Edits | None = None) -> Harness:
        harness = Harness(competition(install("competition", "ring", edits)), tmp_path / "harness")
        harness.folder.mkdir()
        return harness

    return made


@pytest.fixture
def judge(harness_of: Callable[..., Harness]) -> Judge:
    """``judge(rule, edits)``: what the rule says of the new competition with these edits."""
    rules = {rule.name: rule for rule in RULES}

    def tried(rule: str, edits: Edits | None = None) -> list[str]:
        harness = harness_of(edits)
        if rule in ("prepare", "raw-untouched"):
            assert not list(data.raw(harness))
        if rule == "raw-untouched":
            list(data.prepare(harness))
        if rule not in WITHOUT_DATA:
            harness.create_raw()
            harness.create_prepared()
        try:
            return [str(broken) for broken in rules[rule].test(harness)]
        except Stop as reason:
            return [str(reason)]

    return tried
