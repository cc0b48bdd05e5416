"""Plugins for the kit to judge: those that `mlecore new` writes, whole or with one thing broken."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mlecore import competitions
from mlecore.registry import discovery, loading
from mlecore.scaffold import names, write

Edits = dict[str, tuple[str, str]]  # file of the package -> (old, new); an empty old appends
Install = Callable[..., str]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """``install(kind, name, edits)``: a new plugin on the path, found like any other."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    modules: list[str] = []

    def put(kind: str, name: str, edits: Edits | None = None) -> str:
        made = names(kind, name)
        folder = write(made, tmp_path)
        package = site / made.module
        shutil.copytree(folder / made.module, package)
        for file, (old, new) in (edits or {}).items():
            text = (package / file).read_text()
            assert old in text, f"{file} has no {old!r}"
            (package / file).write_text(text.replace(old, new) if old else text + new)
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


def forget() -> None:
    """What is installed has changed."""
    for cache in (discovery._all_entries, discovery._of_kind, discovery.find, loading.load, competitions._facts):
        cache.cache_clear()
