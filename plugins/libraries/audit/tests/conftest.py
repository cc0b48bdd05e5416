"""Small competitions with flaws planted in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from mlecore_audit.subject import Subject
from pandas import DataFrame

import mlecore
from mlecore.data.prepared import Prepared

SubjectOf = Callable[..., Subject]


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
