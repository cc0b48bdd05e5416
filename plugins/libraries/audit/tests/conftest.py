"""Small competitions with flaws planted in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from pandas import DataFrame

import mlecore
from mlecore.data.prepared import Prepared
from mlecore_audit.finding import Finding
from mlecore_audit.run import findings
from mlecore_audit.subject import Subject

SubjectOf = Callable[..., Subject]
Plant = Callable[[Path, DataFrame, DataFrame], None]


@pytest.fixture
def subject_of(tmp_path: Path) -> SubjectOf:
    """``subject_of(train, test, files)``: tables with columns ``id`` and ``digit``, graded by accuracy.

    The public test table has no ``digit``. ``files`` are public ones, by their path below ``public/``.
    """

    def build(train: DataFrame, test: DataFrame, files: Mapping[str, bytes] | None = None) -> Subject:
        public, private = tmp_path / "public", tmp_path / "private"
        public.mkdir()
        private.mkdir()
        train.to_csv(public / "train.csv", index=False)
        test.drop(columns="digit").to_csv(public / "test.csv", index=False)
        test[["id", "digit"]].to_csv(private / "test.csv", index=False)
        test[["id"]].assign(digit=0).to_csv(public / "sample_submission.csv", index=False)
        for name, data in (files or {}).items():
            (public / name).parent.mkdir(parents=True, exist_ok=True)
            (public / name).write_bytes(data)
        prepared = Prepared(competition="optical-digits", synthetic=True, root=tmp_path)
        return Subject(mlecore.competition("optical-digits"), prepared)

    return build


@pytest.fixture
def planted(subject_of: SubjectOf, tmp_path: Path) -> Callable[[Plant | None], Subject]:
    """``planted(plant)``: 300 training and 200 test rows of random digits; ``plant(public, train, test)`` adds."""

    def build(plant: Plant | None = None) -> Subject:
        rng = np.random.default_rng(7)
        ids = [f"k{number}" for number in rng.permutation(10_000)[:500]]
        table = DataFrame({"id": ids, "digit": rng.integers(0, 10, 500), "x": rng.normal(size=500).round(4)})
        train, test = table[:300], table[300:].reset_index(drop=True)
        subject = subject_of(train, test)
        if plant is not None:
            plant(tmp_path / "public", train, test)
        return subject

    return build


@pytest.fixture
def found_by(planted: Callable[[Plant | None], Subject]) -> Callable[[str, Plant | None], list[Finding]]:
    """``found_by(check, plant)``: what a check finds. A file that it could not examine fails the test."""

    def examined(check: str, plant: Plant | None = None) -> list[Finding]:
        subject = planted(plant)
        found = list(findings(subject, check))
        assert subject.unexamined == {}
        return found

    return examined
