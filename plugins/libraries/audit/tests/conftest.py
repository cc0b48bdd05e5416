"""Prepared data of the competition optical-digits (accuracy of a digit), made by each test with a flaw of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlecore_audit.finding import Finding
from mlecore_audit.run import findings
from mlecore_audit.subject import Subject

from mlecore import competition
from mlecore.data.prepared import Prepared

Plant = Callable[[Path, pd.DataFrame, pd.DataFrame], None]


@pytest.fixture
def subject_of(tmp_path: Path) -> Callable[[Plant | None], Subject]:
    """``subject_of(plant)``: ``plant(public, train, test)`` adds files; both tables have ``id`` and ``digit``."""

    def prepared(plant: Plant | None = None) -> Subject:
        rng = np.random.default_rng(7)
        public, private = tmp_path / "public", tmp_path / "private"
        public.mkdir()
        private.mkdir()
        ids = [f"k{number}" for number in rng.permutation(10_000)[:500]]
        table = pd.DataFrame({"id": ids, "digit": rng.integers(0, 10, 500), "x": rng.normal(size=500).round(4)})
        train, test = table[:300], table[300:].reset_index(drop=True)
        train.to_csv(public / "train.csv", index=False)
        test.drop(columns="digit").to_csv(public / "test.csv", index=False)
        test[["id", "digit"]].to_csv(private / "test.csv", index=False)
        test[["id"]].assign(digit=0).to_csv(public / "sample_submission.csv", index=False)
        (public / "description.md").write_text("Digits.\n")
        if plant is not None:
            plant(public, train, test)
        return Subject(
            competition("optical-digits"), Prepared(competition="optical-digits", root=tmp_path, synthetic=True)
        )

    return prepared


@pytest.fixture
def found_by(subject_of: Callable[[Plant | None], Subject]) -> Callable[[str, Plant | None], list[Finding]]:
    """``found_by(check, plant)``: what a check finds. Files that it could not examine fail the test."""

    def examined(check: str, plant: Plant | None = None) -> list[Finding]:
        subject = subject_of(plant)
        found = list(findings(subject, check))
        assert subject.unexamined == {}
        return found

    return examined


@pytest.fixture
def subject_from(tmp_path: Path) -> Callable[..., Subject]:
    """``subject_from(train, test, files)``: tables with ``id`` and ``digit``; ``files`` by their path below public."""

    def build(train: pd.DataFrame, test: pd.DataFrame, files: Mapping[str, bytes] | None = None) -> Subject:
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
        prepared = Prepared(competition="optical-digits", root=tmp_path, synthetic=True)
        return Subject(competition("optical-digits"), prepared)

    return build
