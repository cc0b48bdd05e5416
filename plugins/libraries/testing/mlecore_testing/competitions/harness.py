"""A competition for the kit: its data, and what its code says about submissions."""

from __future__ import annotations

import os
from functools import cached_property
from itertools import islice
from pathlib import Path

from attrs import frozen

from mlecore import Competition
from mlecore.data.prepared import Prepared
from mlecore.errors import InvalidSubmission, MlecoreError
from mlecore.model.sample import open_sample
from mlecore_audit.mutants import Grid, Mutant, mutants
from mlecore_audit.subject import Subject
from mlecore_testing.shared_data import SharedData
from mlecore_toolkit.submissions.format import Format

MUTANTS = 150  # tried
_SMALL = 100_000  # bytes of a sample submission; for larger ones fewer mutants are tried, as each takes long
_LEAST = 20  # three of each kind


@frozen
class Response:
    """What ``check`` or ``grade`` made of a submission: a score, a refusal with its reason, or a crash."""

    score: float | None = None  # of grade; check leaves it None
    refusal: str | None = None
    crash: str | None = None

    @property
    def accepted(self) -> bool:
        return self.refusal is None and self.crash is None


@frozen
class Verdict:
    """A mutant and what both made of it."""

    mutant: Mutant
    check: Response
    grade: Response


class Harness:
    """One competition in one edition with its synthetic (or practice) data, in its own folder."""

    def __init__(
        self,
        competition: Competition,
        folder: Path,
        *,
        seed: int = 0,
        size: float = 1.0,
        short: bool = False,
        shared: SharedData | None = None,
    ) -> None:
        self.competition = competition
        self.facts = competition.facts
        self.folder = folder
        self.seed = seed
        self.size = size
        self.short = short
        self.shared = shared or SharedData(folder / "shared")
        self.raw = folder / "raw"
        self.prepared = folder / "prepared"
        self.raw_again = folder / "raw-again"
        self.after_again = folder / "raw-again.json"
        self.prepared_again = folder / "prepared-again"
        self.second_failure = ""  # of the process that does it all again
        self._submission = folder / "submission.csv"

    @property
    def golden_file(self) -> Path | None:
        """What the published benchmark makes of v1's data: ``tests/golden.json`` beside the package, if it is there."""
        origin = self.competition.plugin.origin
        file = None if origin is None else origin.parent.parent / "tests" / "golden.json"
        return file if file and file.is_file() and self.competition.edition == "v1" else None

    @property
    def public(self) -> Path:
        return self.prepared / "public"

    @property
    def private(self) -> Path:
        return self.prepared / "private"

    def create_raw(self) -> None:
        """Point ``raw`` to the test run's data, created if they do not exist yet."""
        self.raw = self.shared.raw(self.competition, self.seed, self.size)

    def create_prepared(self) -> None:
        """Point ``prepared`` to the test run's data, created if they do not exist yet."""
        self.prepared = self.shared.prepared(self.competition, self.seed, self.size)

    @cached_property
    def names(self) -> list[str]:
        """Path of every public file and of members of archives: ``public/x.zip!train/1.jpg``."""
        return [item.name for item in self.subject.names]

    @cached_property
    def subject(self) -> Subject:
        """The prepared data as the audit's checks need them."""
        facts, edition = self.facts, self.competition.edition
        return Subject(
            self.competition, Prepared(competition=facts.id, edition=edition, synthetic=True, root=self.prepared)
        )

    @property
    def format(self) -> Format:
        return self.competition.format

    @cached_property
    def sample(self) -> bytes:
        with open_sample(self.facts, self.public) as path:
            return path.read_bytes()

    @cached_property
    def perfect(self) -> bytes:
        """The best possible submission; without a hook the bytes of the answers, so that no cell changes."""
        if not self.competition.loaded.implements("perfect"):
            return (self.prepared / (self.facts.gold_submission or self.facts.answers)).read_bytes()
        data: bytes = self.competition.perfect(self.private).to_csv(index=False, lineterminator="\n").encode()
        return data

    def tools(self) -> Path:
        """A folder with what an agent finds in /opt/mlecore about the form of a submission."""
        folder = self.folder / "opt"
        if not folder.is_dir():
            folder.mkdir()
            (folder / "submission.json").write_text(self.format.to_json(own_rules=self.competition.own_rules))
            (folder / "sample.csv").write_bytes(self.sample)
        return folder

    @property
    def ids(self) -> list[str]:
        """The columns that name a row."""
        return [self.format.id] if self.format.id else []

    @cached_property
    def targets(self) -> list[str]:
        """The columns that hold predictions."""
        return list(self.format.expand(list(self.grid.header)))

    @cached_property
    def grid(self) -> Grid:
        """The sample submission, cell by cell."""
        return Grid.parse(self.sample)

    def check(self, data: bytes) -> Response:
        self._submission.write_bytes(data)
        try:
            self.competition.check(self._submission, self.public)
        except InvalidSubmission as reason:
            return Response(refusal=self._said(reason))
        except MlecoreError as error:
            return Response(crash=str(error))
        return Response()

    def grade(self, data: bytes, prepared: Path | None = None) -> Response:
        prepared = prepared or self.prepared
        self._submission.write_bytes(data)
        try:
            score = self.competition.grade(self._submission, prepared / "private", prepared / "public")
            return Response(score=score)
        except InvalidSubmission as reason:
            return Response(refusal=self._said(reason))
        except MlecoreError as error:
            return Response(crash=str(error))

    def _said(self, reason: InvalidSubmission) -> str:
        """The file's path was given by the user, so it may be in the reason."""
        return str(reason).replace(str(self._submission), self._submission.name)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """Mutated submissions, checked and graded: fewer where the sample is large."""
        bases = {"sample": self.sample}
        if self.grade(self.perfect).accepted:
            bases["perfect"] = self.perfect
        count = max(_LEAST, round(MUTANTS * min(1.0, _SMALL / max(1, len(self.sample)))))
        chosen = islice(mutants(bases, self.ids, self.seed), count)
        return [Verdict(mutant, self.check(mutant.data), self.grade(mutant.data)) for mutant in chosen]

    def locals(self) -> tuple[str, ...]:
        """Texts that must not be in a message: folders of this machine."""
        return (os.fspath(self.folder), os.fspath(self.shared.folder), str(Path.home()) + os.sep)
