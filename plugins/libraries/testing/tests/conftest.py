"""Plugins for the kit to judge: those that `mlecore new` writes, whole or with one thing broken."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mle_ext_own_data.examples import example

import mlecore_testing.competitions.harness as harness_module
from mlecore import competition
from mlecore.model import facts
from mlecore.plugins import discovery, entry_points, loading
from mlecore_testing.competitions import RULES, data
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Stop
from mlecore_testing.scaffold import package, write

WITHOUT_DATA = {"facts", "light", "description", "raw", "prepare", "raw-untouched"}

Edits = dict[str, tuple[str, str]]  # file of the package -> (old, new); an empty old appends
Install = Callable[..., str]
Judge = Callable[..., list[str]]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """``install(kind, name, edits)``: a new plugin on the path, found like any other."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    modules: list[str] = []

    def put(kind: str, name: str, edits: Edits | None = None) -> str:
        made = example(name) if kind == "competition" else package(kind, name)
        folder = write(made, tmp_path)
        target = site / made.module
        shutil.copytree(folder / made.module, target)
        for file, (old, new) in (edits or {}).items():
            text = (target / file).read_text()
            assert old in text, f"{file} has no {old!r}"
            (target / file).write_text(text.replace(old, new) if old else text + new)
        info = site / f"{made.module}-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {made.distribution}\nVersion: 0.1.0\n\n")
        (info / "entry_points.txt").write_text(f"[mlecore.{kind}s]\n{name} = {made.module}\n")
        modules.append(made.module)
        forget()
        return name

    yield put
    for name in list(sys.modules):
        if name.partition(".")[0] in modules:
            del sys.modules[name]
    monkeypatch.undo()
    forget()


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
