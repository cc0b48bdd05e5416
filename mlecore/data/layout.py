"""Where data lie: the folders of a data directory, and finding what is prepared in one of several."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from mlecore.data.manifest import Manifest, read_head
from mlecore.errors import DataError, NotPrepared, UsageError

if TYPE_CHECKING:
    from mlecore.backends import Progress
    from mlecore.facts import Facts

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@frozen(kw_only=True)
class Prepared:
    """The prepared data of one competition: ``root`` holds ``public/`` for the agent and ``private/`` for grading."""

    competition: str
    edition: str
    synthetic: bool
    root: Path
    manifest: Manifest | None  # None: prepared by MLE-bench and not yet verified; DataDirs.prepared() sees to that

    @property
    def public(self) -> Path:
        return self.root / "public"

    @property
    def private(self) -> Path:
        return self.root / "private"

    @property
    def digest(self) -> str:
        """Of the public files: the same digest, the same bytes under the same names."""
        return self._verified().public.digest

    @property
    def private_digest(self) -> str:
        """Of the answers and what else grading needs."""
        return self._verified().private.digest

    def _verified(self) -> Manifest:
        if self.manifest is None:
            raise NotPrepared(
                f"{self.root} was prepared by MLE-bench and has not been verified yet",
                fix=f"Verify it once: mlecore prepare {self.competition}",
            )
        return self.manifest


@frozen
class DataDirs:
    """Several data directories. The first one is written to; the others are only read."""

    dirs: tuple[Path, ...]

    @classmethod
    def of(cls, given: Sequence[str | Path] = (), environ: Mapping[str, str] = os.environ) -> DataDirs:
        """Those of ``--data``, or of ``MLECORE_DATA``, or the default; MLE-bench's own comes last, if it is there."""
        listed = environ.get("MLECORE_DATA", "").split(os.pathsep)
        named = [Path(item).expanduser().absolute() for item in (given or filter(None, listed))]
        home = Path(environ.get("HOME") or Path.home())
        if not named:
            share = environ.get("XDG_DATA_HOME") or home / ".local" / "share"
            named = [Path(share) / "mlecore" / "data"]
        cache = environ.get("XDG_CACHE_HOME") or home / (".cache" if sys.platform != "darwin" else "Library/Caches")
        bench = Path(cache) / "mle-bench" / "data"
        return cls(tuple(dict.fromkeys([*named, *([bench] if bench.is_dir() else [])])))

    @property
    def first(self) -> Path:
        """The one that is written to."""
        return self.dirs[0]

    def folder(self, competition: str) -> Path:
        """Of a competition, in the directory that is written to."""
        return self.first / _name(competition, "competition")

    def target(self, competition: str, edition: str = "v1", synthetic: bool = False) -> Path:
        """The prepared folder that preparing writes."""
        return self.folder(competition) / prepared_name(edition, synthetic)

    def find(self, competition: str, edition: str = "v1", synthetic: bool = False) -> Prepared | None:
        """What is there, the first directory that has it; reads two small files at most."""
        name = prepared_name(edition, synthetic)
        for place in self.dirs:
            root = place / _name(competition, "competition") / name
            manifest = read_head(root)
            if manifest is None and edition == "v1" and not synthetic and _is_mle_bench(root):
                manifest = read_head(self.adopted(root, competition))
                if manifest is not None and manifest.stamp != stamp(root):
                    manifest = None  # prepared again since then
            elif manifest is None:
                continue
            return Prepared(competition=competition, edition=edition, synthetic=synthetic, root=root, manifest=manifest)
        return None

    def prepared(
        self,
        competition: str,
        edition: str = "v1",
        synthetic: bool = False,
        *,
        facts: Facts | None = None,
        progress: Progress | None = None,
        verified: bool = True,
    ) -> Prepared:
        """What is there, verified; raises NotPrepared with the command to run.

        What MLE-bench prepared is read and hashed once, on the first call (against the checksums of ``facts``, by
        default those of the installed competition): a minute or more for each 100 GB. ``verified`` False leaves that
        out, for who needs no digest, such as a grader.
        """
        found = self.find(competition, edition, synthetic)
        if found is None:
            flags = (" --synthetic" if synthetic else "") + (f" --edition {edition}" if edition != "v1" else "")
            kind = "synthetic data" if synthetic else "data"
            raise NotPrepared(
                f"the {kind} of {competition} are not prepared in {', '.join(map(str, self.dirs))}",
                fix=f"Prepare them: mlecore prepare {competition}{flags}",
            )
        if found.manifest is None and verified:
            from mlecore.data.adopting import adopt

            return adopt(found, self, facts, progress)
        return found

    def adopted(self, root: Path, competition: str) -> Path:
        """Where the manifest of data that MLE-bench prepared is kept: never among them."""
        import hashlib

        key = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:16]
        return self.folder(competition) / f"mle-bench-{key}"

    def archive(self, competition: str) -> Path | None:
        """A finished download, in any directory."""
        return next((path for path in self._beside(competition, f"{competition}.zip") if path.is_file()), None)

    def leaderboard(self, competition: str) -> Path | None:
        """The scores of Kaggle's whole leaderboard, if they were fetched; see mlecore.data.leaderboard."""
        return next((path for path in self._beside(competition, "leaderboard.csv") if path.is_file()), None)

    def all(self) -> Iterator[Prepared]:
        """Everything prepared in any directory, by competition."""
        ids: set[str] = set()
        for place in self.dirs:
            if place.is_dir():
                ids.update(entry.name for entry in place.iterdir() if _NAME.fullmatch(entry.name) and entry.is_dir())
        for competition in sorted(ids, key=str.lower):
            for name in sorted({name for path in self._beside(competition, "") for name in _prepared_names(path)}):
                edition = name.partition("@")[2] or "v1"
                if found := self.find(competition, edition, name.startswith("synthetic/")):
                    yield found

    def _beside(self, competition: str, name: str) -> list[Path]:
        return [place / _name(competition, "competition") / name for place in self.dirs]


def prepared_name(edition: str, synthetic: bool) -> str:
    """The prepared folder's path in a competition's folder."""
    name = "prepared" if edition == "v1" else f"prepared@{_name(edition, 'edition')}"
    return f"synthetic/{name}" if synthetic else name


def stamp(root: Path) -> tuple[int, int]:
    """Changes when files appear in or vanish from ``public/`` or ``private/`` themselves."""
    return (root / "public").stat().st_mtime_ns, (root / "private").stat().st_mtime_ns


def _prepared_names(folder: Path) -> Iterator[str]:
    for prefix in ("", "synthetic/"):
        place = folder / prefix
        if place.is_dir():
            for entry in place.iterdir():
                stem, _, edition = entry.name.partition("@")
                if stem == "prepared" and (not edition or _NAME.fullmatch(edition)) and ".partial" not in entry.name:
                    yield prefix + entry.name


def _is_mle_bench(root: Path) -> bool:
    """MLE-bench makes both folders before it fills them: empty ones are no data."""
    try:
        return all(any((root / part).iterdir()) for part in ("public", "private"))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise DataError(f"{root} cannot be read: {error.strerror}") from None


def _name(text: str, what: str) -> str:
    if not _NAME.fullmatch(text):
        raise UsageError(f"{text!r} is no name of a{'n' if what == 'edition' else ''} {what}")
    return text
