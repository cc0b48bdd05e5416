"""A trial grades what a test makes up, and holds `check` to what `grade` says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from mlecore import Competition
from mlecore.errors import InvalidSubmission
from mlecore_testing import Trial


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("spaceship-titanic", tmp_path_factory.mktemp("trial"), size=0.1)


@pytest.fixture
def sample(trial: Trial) -> str:
    return (trial.public / "sample_submission.csv").read_text()


def test_a_check_that_refuses_what_is_graded_is_found_out(
    trial: Trial, sample: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Any, submission: Path, public: Path) -> list[str]:
        raise InvalidSubmission("never")

    monkeypatch.setattr(Competition, "check", refuse)
    with pytest.raises(AssertionError, match="check refuses what grade scores"):
        trial.grade(sample)


def test_a_check_that_passes_what_is_refused_is_found_out_unless_it_may(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Competition, "check", lambda self, submission, public: [])
    with pytest.raises(AssertionError, match="check passes what grade refuses"):
        trial.grade("a,b\n1,2\n")
    monkeypatch.setattr(trial.competition, "facts", evolve(trial.competition.facts, check_incomplete="why"))
    with pytest.raises(InvalidSubmission):
        trial.grade("a,b\n1,2\n")


def test_a_refusal_needs_its_reason(trial: Trial, sample: str) -> None:
    trial.refuses("a,b\n1,2\n", "PassengerId")
    with pytest.raises(AssertionError, match=r"matches 'Sunday', got: .*PassengerId"):
        trial.refuses("a,b\n1,2\n", "Sunday")
    with pytest.raises(AssertionError, match=r"expected a refusal .* got: the submission scores"):
        trial.refuses(sample, "PassengerId")


def test_changed_raw_data_are_prepared_beside_the_trials_own(trial: Trial) -> None:
    raw = trial.raw_copy()
    header, first, *rest = (trial.raw / "train.csv").read_text().splitlines(keepends=True)
    (raw / "train.csv").write_text("".join([header, *rest]))
    public, private = trial.prepare(raw)
    assert first not in (public / "train.csv").read_text() + (private / "test.csv").read_text()
    assert first in (trial.raw / "train.csv").read_text()
    with pytest.raises(AssertionError, match=r"expected a refusal .* was prepared"):
        trial.refuses_raw(raw, "train")
    (raw / "train.csv").unlink()
    trial.refuses_raw(raw, r"train\.csv")
    with pytest.raises(AssertionError, match="matches 'Sunday', got"):
        trial.refuses_raw(raw, "Sunday")
