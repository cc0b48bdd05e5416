"""The prepared data of one competition: what the agent gets, what grading needs, and what is known about both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import Factory, field, frozen

from mlecore.data.manifest import Manifest
from mlecore.errors import NotPrepared

if TYPE_CHECKING:
    from mlecore.facts import Facts

DataKind = Literal["published", "unverified", "synthetic", "practice"]
"""What a score was reached on. ``published``: the competition's data, found to be as published. ``unverified``: they
were not compared with the published checksums, or differ from them. ``synthetic``: made up. ``practice``: real data
of a competition that nobody can earn a medal in. Only on published data there are medals."""

NO_MEDALS: Mapping[DataKind, str] = {
    "unverified": "unverified data: they were not compared with the published checksums, or differ from them",
    "synthetic": "synthetic data: such scores cannot be compared with real ones",
    "practice": "practice data: the competition has no human leaderboard",
}
"""Why there are no medals on the kinds of data that have none."""


@frozen(kw_only=True)
class Prepared:
    """The folder ``root``, with ``public/`` for the agent and ``private/`` for grading.

    ``mlecore.data.open_prepared`` finds it in the data directories; for other folders, make one by hand.
    """

    competition: str
    edition: str = "v1"
    synthetic: bool = False  # made up by the competition's make_raw: no medals
    root: Path
    leaderboard: Path | None = None  # the scores of Kaggle's whole leaderboard, where they were fetched
    manifest: Manifest | None = None  # None: these files were never hashed
    lists: Path = field(default=Factory(lambda self: self.root, takes_self=True))  # the folder of the manifest

    @property
    def public(self) -> Path:
        return self.root / "public"

    @property
    def private(self) -> Path:
        return self.root / "private"

    def kind(self, facts: Facts) -> DataKind:
        """What kind of data these are. Where the competition publishes no checksums, there is nothing to verify."""
        if self.synthetic:
            return "synthetic"
        if facts.thresholds is None and not (facts.folder / "leaderboard.csv").is_file():
            return "practice"
        verified = self.manifest is not None and self.manifest.verified
        return "published" if verified or not (facts.md5 or facts.expect) else "unverified"

    @property
    def digest(self) -> str:
        """Of the public files: the same digest, the same bytes under the same names. Raises NotPrepared."""
        return self._hashed().public.digest

    @property
    def private_digest(self) -> str:
        """Of the answers and what else grading needs. Raises NotPrepared."""
        return self._hashed().private.digest

    def _hashed(self) -> Manifest:
        if self.manifest is None:
            raise NotPrepared(
                f"{self.root} has no manifest, so it is not known whether the data are complete",
                fix=f"Have them verified: mlecore prepare {self.competition}",
            )
        return self.manifest

    def to_json(self) -> dict[str, Any]:
        """For another process on this machine."""
        return {
            "competition": self.competition,
            "edition": self.edition,
            "synthetic": self.synthetic,
            "root": str(self.root),
            "leaderboard": None if self.leaderboard is None else str(self.leaderboard),
            "manifest": None if self.manifest is None else self.manifest.to_json(),
            "lists": str(self.lists),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Prepared:
        """The inverse of ``to_json``."""
        leaderboard, manifest = values["leaderboard"], values["manifest"]
        return cls(
            competition=values["competition"],
            edition=values["edition"],
            synthetic=values["synthetic"],
            root=Path(values["root"]),
            leaderboard=None if leaderboard is None else Path(leaderboard),
            manifest=None if manifest is None else Manifest.from_json(manifest),
            lists=Path(values["lists"]),
        )


def stamp(root: Path) -> tuple[int, int]:
    """Changes when files appear in or vanish from ``public/`` or ``private/`` themselves."""
    return (root / "public").stat().st_mtime_ns, (root / "private").stat().st_mtime_ns
