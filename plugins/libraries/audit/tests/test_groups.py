"""Groups that cross the split, and those that do not; quantities and inputs are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from mlecore_audit import groups
from mlecore_audit.finding import Finding

ROWS, GROUPS = 1000, 100


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def rows(rng: np.random.Generator) -> pd.DataFrame:
    """Rows of patients, each with a digit that most of its rows have; in the order of the patients."""
    patient = np.repeat(np.arange(GROUPS), ROWS // GROUPS)
    digit = rng.integers(1, 10, GROUPS)[patient]
    other = rng.random(ROWS) < 0.1
    return pd.DataFrame(
        {
            "id": [f"row{n:05}x" for n in rng.permutation(ROWS)],
            "patient_id": [f"p{n}" for n in rng.permutation(GROUPS)[patient]],
            "digit": np.where(other, rng.integers(1, 10, ROWS), digit),
        }
    )


def by_row(frame: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    mixed = frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)
    return mixed[200:].reset_index(drop=True), mixed[:200].reset_index(drop=True)


def the(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


def test_patients_in_both_parts(subject_of: Any, rng: np.random.Generator) -> None:
    found = the(list(groups.examine(subject_of(*by_row(rows(rng), rng)))))
    assert (found.level, found.file) == ("leak", "public/train.csv")
    assert found.score is not None and 0.85 < found.score < 0.95
    assert "column 'patient_id' has 100 groups of rows, and 100.0% of test rows have" in found.evidence


@pytest.mark.parametrize(("name", "found"), [("Patient no", 1), ("breed", 0)])
def test_few_large_groups_are_found_by_their_name(
    name: str, found: int, subject_of: Any, rng: np.random.Generator
) -> None:
    """What many rows share is a group if its name says so, else it may be a class."""
    patient = np.repeat(np.arange(20), ROWS // 20)
    frame = pd.DataFrame(
        {
            "id": [f"row{n:05}x" for n in rng.permutation(ROWS)],
            name: [f"p{n}" for n in patient],
            "digit": rng.integers(1, 10, 20)[patient],
        }
    )
    findings = list(groups.examine(subject_of(*by_row(frame, rng))))
    assert [each.level for each in findings] == ["leak"] * found
    assert all(each.fix is not None and each.fix.endswith("--group 'Patient no'") for each in findings)


def test_patients_that_tell_nothing(subject_of: Any, rng: np.random.Generator) -> None:
    """They are noted even so: models recognize them."""
    frame = rows(rng).assign(digit=rng.integers(1, 10, ROWS))
    found = the(list(groups.examine(subject_of(*by_row(frame, rng)))))
    assert (found.level, found.score) == ("note", None)
    assert "where a split by it would leave none" in found.evidence


def test_patients_of_one_part_only(subject_of: Any, rng: np.random.Generator) -> None:
    frame = rows(rng)
    train, test = frame[200:].reset_index(drop=True), frame[:200].reset_index(drop=True)
    found = the(list(groups.examine(subject_of(train, test))))
    assert (found.level, found.score) == ("note", None)
    assert "0.0% of test rows have their group in train" in found.evidence and "the split goes by it" in found.evidence


def test_what_is_no_id_is_an_input(subject_of: Any, rng: np.random.Generator) -> None:
    frame = rows(rng).rename(columns={"patient_id": "breed"})
    assert the(list(groups.examine(subject_of(*by_row(frame, rng))))).level == "caution"


@pytest.mark.parametrize("numbered", [True, False])
def test_parts_of_ids(numbered: bool, subject_of: Any, rng: np.random.Generator) -> None:
    """``p17_203``: the part before the bar is a patient."""
    frame = rows(rng)
    patient = frame.pop("patient_id").str[1:]
    frame["id"] = [f"p{patient[n] if numbered else rng.integers(10**9)}_{n}x" for n in range(ROWS)]
    found = list(groups.examine(subject_of(*by_row(frame, rng))))
    if numbered:
        assert "part 1 of ids has 100 groups" in the(found).evidence and the(found).level == "leak"
    else:
        assert found == []


def test_parts_of_file_names(subject_of: Any, rng: np.random.Generator) -> None:
    frame = rows(rng)
    patient = frame.pop("patient_id")
    train, test = by_row(frame.assign(patient=patient), rng)
    files = {
        f"{part}/{row.id}/scan-{row.patient}.bin": row.id.encode()
        for part, table in (("train", train), ("test", test))
        for row in table.itertuples()
    }
    subject = subject_of(train.drop(columns="patient"), test.drop(columns="patient"), files)
    found = list(groups.examine(subject))
    assert [finding.level for finding in found] == ["leak"]
    assert "of file names has 100 groups of rows" in found[0].evidence


@pytest.mark.parametrize("fractions", [True, False])
def test_a_quantity_is_no_group(fractions: bool, subject_of: Any, rng: np.random.Generator) -> None:
    """The label depends on an age of 100 values: neighbouring ages tell it as well."""
    age = rng.integers(0, 100, ROWS)
    ids = [f"row{n:05}x" for n in rng.permutation(ROWS)]
    frame = pd.DataFrame({"id": ids, "user_age": age + 0.5 * fractions, "digit": age // 12 + 1})
    assert list(groups.examine(subject_of(*by_row(frame, rng)))) == []


def test_clean_data_have_no_groups(subject_of: Any, rng: np.random.Generator) -> None:
    columns: dict[str, Any] = {f"c{n}": rng.integers(0, 40, ROWS) for n in range(5)}
    columns |= {"weight": rng.normal(size=ROWS).round(3), "city": rng.choice([f"c{n}" for n in range(60)], ROWS)}
    ids = [f"row{n:05}x" for n in rng.permutation(ROWS)]
    frame = pd.DataFrame({"id": ids, **columns, "digit": rng.integers(1, 10, ROWS)})
    assert list(groups.examine(subject_of(*by_row(frame, rng)))) == []
