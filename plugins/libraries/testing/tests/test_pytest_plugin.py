"""The pytest plugin: every competition.toml is a test, and tests beside it get their competition's data."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

Run = Callable[..., tuple[int, str]]

TESTS = """
import pytest

pytestmark = pytest.mark.trial(size=0.2, seed=5)


def test_data(trial, answers):
    assert trial.competition.id == "ring"
    assert len(answers) == 20  # a fifth of 100
    answers["inside"] = 1 - answers["inside"]


def test_answers_are_whole_again(trial, answers):
    assert trial.grade(answers) == 1
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """``run(*words)``: pytest in the folder of the new competition `ring`; its exit code and what it says."""

    def started(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-rA", *words],
            env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PYTHONSAFEPATH": "1"},
            cwd=tmp_path / "mle-comp-ring",
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return started


def test_a_broken_rule_is_named_and_no_traceback_shown(install: Callable[..., str], run: Run) -> None:
    install("competition", "ring", {"__init__.py": ("return accuracy(", "return -accuracy(")})
    code, said = run("--kit", "short", "-m", "conformance")
    assert code == 1, said
    assert "competition ring v1 breaks" in said and "perfect - " in said
    assert "Traceback" not in said and "pytest_plugin.py" not in said


def test_the_full_kit_is_the_default_and_holds_waivers_to_be_needed(
    install: Callable[..., str], run: Run, tmp_path: Path
) -> None:
    install("competition", "ring", {"competition.toml": ("", '[[waive]]\nrule = "learnable"\nwhy = "a test"\n')})
    changed = tmp_path / "site" / "mle_comp_ring" / "competition.toml"
    (tmp_path / "mle-comp-ring" / "mle_comp_ring" / "competition.toml").write_bytes(changed.read_bytes())
    code, said = run("--kit", "short", "-m", "conformance")
    assert code == 0, said
    code, said = run("-m", "conformance")
    assert code == 1 and "the rule holds, so its waiver is out of date" in said, said


def test_the_installed_package_must_be_the_tested_one(install: Callable[..., str], run: Run) -> None:
    install("competition", "ring", {"competition.toml": ("Ring", "Another ring")})
    code, said = run("-m", "conformance")
    assert code == 1, said
    assert "which is installed, differs from" in said


def test_tests_beside_it_get_its_data(install: Callable[..., str], run: Run, tmp_path: Path) -> None:
    install("competition", "ring")
    (tmp_path / "mle-comp-ring" / "tests" / "test_more.py").write_text(TESTS)
    code, said = run("tests/test_more.py")
    assert code == 0 and "2 passed" in said, said


def test_a_competition_toml_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "competition.toml").write_text("id = ")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "competition.toml" in done.stdout and "Traceback" not in done.stdout


def test_it_costs_other_test_runs_next_to_nothing() -> None:
    script = "import sys, mlecore_testing.pytest_plugin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"pandas", "numpy", "click", "attr", "mlecore.competitions"} & set(done.stdout.split())
