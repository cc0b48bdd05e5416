"""Synthetic data of one test run: each data set is created once and shared by all processes of the run."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen
from filelock import FileLock

from mlecore.data.file_order import replace_links
from mlecore_testing.trees import Tree, read_only, tree

if TYPE_CHECKING:
    from mlecore.model.competition import Competition


@frozen
class SharedData:
    """Raw and prepared data in ``folder``, by competition, edition, seed and size. Nobody may change them."""

    folder: Path

    def raw(self, competition: Competition, seed: int, size: float) -> Path:
        """The synthetic data, or real data that need no account; read-only. Raises what the hook raises."""

        def create(folder: Path) -> None:
            create_raw(competition, folder / "raw", seed, size)
            (folder / "raw.json").write_text(json.dumps(tree(folder / "raw")))
            read_only(folder / "raw")

        return self._once(f"{competition.id}-{seed}-{size:g}", create) / "raw"

    def raw_tree(self, raw: Path) -> Tree:
        """The content of a folder that ``raw`` returned, at the time when it was created."""
        created: Tree = json.loads(raw.with_suffix(".json").read_text())
        return created

    def prepared(self, competition: Competition, seed: int, size: float) -> Path:
        """A folder with ``public`` and ``private``, as `mlecore prepare` leaves them. Raises what the hook raises."""
        raw = self.raw(competition, seed, size)

        def create(folder: Path) -> None:
            competition.prepare(raw, folder / "public", folder / "private")
            replace_links(folder / "public")

        return self._once(f"{competition.id}-{seed}-{size:g}-{competition.edition}", create)

    def _once(self, name: str, create: Callable[[Path], None]) -> Path:
        """The folder ``name``, filled by ``create`` unless another test or process has done so."""
        self.folder.mkdir(parents=True, exist_ok=True)
        folder = self.folder / name
        with FileLock(f"{folder}.lock"):
            if not folder.exists():
                new = Path(tempfile.mkdtemp(dir=self.folder))
                create(new)
                new.rename(folder)
        return folder


def create_raw(competition: Competition, raw: Path, seed: int, size: float) -> None:
    """Create synthetic data in ``raw``, or fetch the real data if they need no account and no network."""
    if competition.loaded.implements("make_raw"):
        competition.make_raw(raw, seed=seed, size=size)
    else:
        competition.fetch(raw)
