"""A tiny competition that needs no installed plugin, and the data directories of a test."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest
from attrs import evolve, frozen

from mlecore.data.layout import DataDirs
from mlecore_testing.facts import some_facts


@frozen
class TinyPlugin:
    version: str = "1.2"


class Tiny:
    """Stands in for mlecore.competition("tiny"): the same methods, no entry point."""

    def __init__(self, folder: Path, hooks: tuple[str, ...] = ("make_raw",), **facts: object) -> None:
        self.facts = some_facts(**{"kaggle": "tiny", "folder": folder, **facts})
        self.plugin, self.edition, self.hooks, self.calls = TinyPlugin(), "v1", hooks, list[str]()
        self.id = "tiny"
        self.loaded = self

    def implements(self, hook: str) -> bool:
        return hook in self.hooks

    def with_facts(self, **facts: object) -> Tiny:
        self.facts = evolve(self.facts, **facts)  # type: ignore[misc]
        return self

    def make_raw(self, raw: Path, seed: int = 0, size: float = 1.0) -> None:
        self.calls.append("make_raw")
        draw = random.Random(seed)
        rows = "".join(f"{i},{draw.random()}\n" for i in range(int(20 * size)))
        (raw / "train.csv").write_text("id,y\n" + rows)

    def fetch(self, raw: Path) -> None:
        self.calls.append("fetch")
        self.make_raw(raw, seed=7)

    def prepare(self, raw: Path, public: Path, private: Path) -> None:
        self.calls.append("prepare")
        header, *rows = (raw / "train.csv").read_text().splitlines(keepends=True)
        (public / "train.csv").write_text(header + "".join(rows[5:]))
        (private / "test.csv").write_text(header + "".join(rows[:5]))
        (public / "sample.csv").write_text(header + "".join(f"{row.partition(',')[0]},0\n" for row in rows[:5]))
        (public / "images").mkdir()
        (public / "images" / "a b\nü.txt").write_text("odd name")
        (public / "description.md").write_text("# Tiny\n")


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    return Tiny(tmp_path)


@pytest.fixture
def dirs(tmp_path: Path) -> DataDirs:
    return DataDirs((tmp_path / "data",))


@pytest.fixture
def tiny_archive(tmp_path: Path, tiny: Tiny) -> Path:
    """What Kaggle would send."""
    raw = tmp_path / "kaggle-raw"
    raw.mkdir()
    tiny.make_raw(raw)
    with zipfile.ZipFile(tmp_path / "download.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(raw / "train.csv", "train.csv")
        archive.writestr("deep/er/nested.zip", b"stays packed")
    tiny.calls.clear()
    return tmp_path / "download.zip"
