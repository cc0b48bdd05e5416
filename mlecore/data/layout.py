"""The folders of a data directory, and the search for prepared data in several of them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import frozen

from mlecore.data.manifest import read_head
from mlecore.data.prepared import Prepared, stamp
from mlecore.errors import DataError, UsageError

OBFUSCATED = "obfuscated"
"""The folder of a data directory for what an extension makes of public data: obfuscated ones."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@frozen
class DataDirs:
    """Several data directories. mlecore writes to the first one and only reads the others."""

    dirs: tuple[Path, ...]

    @classmethod
    def of(cls, given: Sequence[str | Path] = ()) -> DataDirs:
        """The directories of ``--data``, or ``MLECORE_DATA``, or the default; then MLE-bench's own, if it exists."""
        from platformdirs import user_cache_path, user_data_path

        listed = os.environ.get("MLECORE_DATA", "").split(os.pathsep)
        named = [Path(item).expanduser().absolute() for item in (given or filter(None, listed))]
        bench = user_cache_path("mle-bench", appauthor=False) / "data"
        dirs = named or [user_data_path("mlecore", appauthor=False) / "data"]
        return cls(tuple(dict.fromkeys([*dirs, bench] if bench.is_dir() else dirs)))

    @property
    def first(self) -> Path:
        """The directory that mlecore writes to."""
        return self.dirs[0]

    def flags(self, edition: str = "v1", synthetic: bool = False) -> str:
        """The further flags of a printed `mlecore prepare ID` that prepares such data here."""
        data = "" if self.first == DataDirs.of().first else f" --data {shlex.quote(str(self.first))}"
        return (" --synthetic" if synthetic else "") + (f" --edition {edition}" if edition != "v1" else "") + data

    def folder(self, competition: str) -> Path:
        """The folder of a competition in the first directory."""
        return self.first / _name(competition, "competition")

    def target(self, competition: str, edition: str = "v1", synthetic: bool = False) -> Path:
        """The folder that preparing creates."""
        return self.folder(competition) / prepared_name(edition, synthetic)

    def find(self, competition: str, edition: str = "v1", synthetic: bool = False) -> Prepared | None:
        """Prepared data from the first directory that has them, or None. Reads at most two small files."""
        name = prepared_name(edition, synthetic)
        for folder in self.dirs:
            root = folder / _name(competition, "competition") / name
            manifest, kept = read_head(root), self.adopted(root, competition)
            ours = manifest is None or read_head(kept) == manifest
            if manifest is None and edition == "v1" and not synthetic and _is_mle_bench(root):
                manifest = read_head(kept)
                if manifest is not None and manifest.stamp != stamp(root):
                    manifest = None  # prepared again since then
            elif manifest is None:
                continue
            return Prepared(
                competition=competition,
                edition=edition,
                synthetic=synthetic,
                root=root,
                leaderboard=None if synthetic else self.leaderboard(competition),
                manifest=manifest,
                lists=kept if ours else root,
            )
        return None

    def adopted(self, root: Path, competition: str) -> Path:
        """The folder for the manifest of data that mlecore may not change, such as those that MLE-bench prepared."""
        import hashlib

        key = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:16]
        return self.folder(competition) / f"manifest-{key}"

    def archive(self, competition: str) -> Path | None:
        """A finished download, in any directory."""
        return next((path for path in self._beside(competition, f"{competition}.zip") if path.is_file()), None)

    def leaderboard(self, competition: str) -> Path | None:
        """The scores of Kaggle's whole leaderboard, if they were downloaded (mlecore.data.kaggle.leaderboard)."""
        return next((path for path in self._beside(competition, "leaderboard.csv") if path.is_file()), None)

    def all(self) -> Iterator[Prepared]:
        """Everything prepared in any directory, by competition."""
        ids: set[str] = set()
        for folder in self.dirs:
            if folder.is_dir():
                ids.update(entry.name for entry in folder.iterdir() if _NAME.fullmatch(entry.name) and entry.is_dir())
        for competition in sorted(ids, key=str.lower):
            for name in sorted({name for path in self._beside(competition, "") for name in _prepared_names(path)}):
                edition = name.partition("@")[2] or "v1"
                if found := self.find(competition, edition, name.startswith("synthetic/")):
                    yield found

    def _beside(self, competition: str, name: str) -> list[Path]:
        return [folder / _name(competition, "competition") / name for folder in self.dirs]


def prepared_name(edition: str, synthetic: bool) -> str:
    """The prepared folder's path in a competition's folder."""
    name = "prepared" if edition == "v1" else f"prepared@{_name(edition, 'edition')}"
    return f"synthetic/{name}" if synthetic else name


def _prepared_names(folder: Path) -> Iterator[str]:
    for prefix in ("", "synthetic/"):
        if (folder / prefix).is_dir():
            for entry in (folder / prefix).iterdir():
                stem, _, edition = entry.name.partition("@")
                if stem == "prepared" and (not edition or _NAME.fullmatch(edition)) and ".partial" not in entry.name:
                    yield prefix + entry.name


def _is_mle_bench(root: Path) -> bool:
    """Did MLE-bench prepare it? It creates both folders before it fills them, so empty ones do not count."""
    try:
        return all(any((root / part).iterdir()) for part in ("public", "private"))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise DataError(f"{root} cannot be read: {error.strerror}") from None


def _name(text: str, what: str) -> str:
    if not _NAME.fullmatch(text):
        raise UsageError(f"{text!r} is not the name of a{'n' if what == 'edition' else ''} {what}")
    return text
