"""Check, grade and a grader written as the published ones are agree on hundreds of odd submissions."""

import importlib.util
import math
import sys
import warnings
from pathlib import Path

import pytest

from mlecore.errors import InvalidSubmission
from mlecore.submissions.format import Format
from mlecore.submissions.table import Table

pytestmark = pytest.mark.slow


def _load(name: str):
    spec = importlib.util.spec_from_file_location(f"mlecore_tests_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


CASES, mutations = _load("published_graders").CASES, _load("mutations").mutations


def verdict(grade, *arguments):
    """The score, or why there is none."""
    try:
        return float(grade(*arguments))
    except InvalidSubmission as error:
        return str(error)


def crashes_or(oracle, frame, answers):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(oracle(frame, answers.copy()))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_check_grade_and_oracle_agree(name, tmp_path):
    case = CASES[name]()
    (tmp_path / "sample.csv").write_text(case.sample)
    sample, path = Table(tmp_path / "sample.csv"), tmp_path / "submission.csv"
    format = Format.parse(case.table)
    valid = 0
    for text in mutations(case.sample, seed=len(name), count=150, odd=case.odd):
        path.write_bytes(text.encode())
        table = Table(path)
        graded = verdict(case.grade, table, case.answers)
        try:
            checked = format.read(table, sample.frame())
        except InvalidSubmission as error:
            checked = str(error)
        try:
            wanted = crashes_or(case.oracle, table.frame(), case.answers)
        except InvalidSubmission as error:  # no table at all
            wanted = str(error)
        assert isinstance(graded, str) == isinstance(checked, str) == isinstance(wanted, str), (
            f"{text}\ngrade: {graded}\ncheck: {checked}\noracle: {wanted}"
        )
        if isinstance(wanted, float):
            valid += 1
            same = graded == pytest.approx(wanted, rel=1e-12, abs=1e-12) or (math.isnan(graded) and math.isnan(wanted))
            assert same, f"{text}\ngrade: {graded}\noracle: {wanted}"
    assert 15 < valid < 135
