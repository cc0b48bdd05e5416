"""Competitions against a second reading of their sheets.

Each module of this folder is named after a competition, and was written from its sheet before its package was opened,
as plainly as pandas and scikit-learn allow::

    def prepare(raw: Path, public: Path, private: Path) -> None: ...
    def grade(submission: Path, private: Path) -> float: ...  # whatever it raises means: invalid
    def submissions(answers, rng): ...  # optional: tables that mutants of cells do not come to, such as many boxes

What it prepares, and what it makes of mutated submissions, must be what the package does. A module without its package
is skipped.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import warnings
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from mlecore_audit.mutants import mutants
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.shared_data import SharedData
from numpy.random import RandomState

from mlecore import competition
from mlecore.errors import InvalidSubmission
from mlecore.prepare import extract
from mlecore.registry.discovery import plugins
from mlecore.submissions.guard import guard

HERE = Path(__file__).parent
ORACLES = sorted(path for path in HERE.glob("*.py") if not path.name.startswith("test_"))
INSTALLED = {plugin.name.lower().replace("-", "_"): plugin.name for plugin in plugins("competition")}
MUTANTS = 30  # of a stream that has every kind in turn
SIZE = 0.1
LARGE = {"ai4code", "alaska2_image_steganalysis"}  # their sheets ask for 20,000 files
ARCHIVES = (".zip", ".7z", ".gz")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    seeds = metafunc.config.getoption("--seeds")
    cases = [
        pytest.param(path, seed, id=f"{path.stem}-{seed}")
        for path in ORACLES
        for seed in range(1 if path.stem in LARGE else seeds)
    ]
    metafunc.parametrize(("path", "seed"), cases)


@pytest.mark.slow
@pytest.mark.in_turn(6)
def test_package_and_oracle_agree(path: Path, seed: int, tmp_path: Path, shared_data: SharedData) -> None:
    if path.stem.lower() not in INSTALLED:
        pytest.skip("its package is not installed")
    oracle = _load(path)
    ours = Harness(
        competition(INSTALLED[path.stem.lower()]), tmp_path / "ours", seed=seed, size=SIZE, shared=shared_data
    )
    (tmp_path / "ours").mkdir()
    ours.create_raw()
    ours.create_prepared()
    public, private = tmp_path / "theirs" / "public", tmp_path / "theirs" / "private"
    for folder in (public, private):
        folder.mkdir(parents=True)
    oracle.prepare(ours.raw, public, private)
    prepared = _contents(ours.prepared, tmp_path / "a")
    del prepared["public/description.md"]
    assert prepared == _contents(tmp_path / "theirs", tmp_path / "b")
    tried = chain(_submissions(ours), _own_submissions(ours, oracle))
    differ = [what for name, data in tried if (what := _difference(ours, oracle, private, name, data))]
    assert not differ, "\n".join(differ)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"oracle_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _contents(folder: Path, scratch: Path) -> dict[str, str]:
    """Each file with its text where it is a table, else its hash; archives member by member."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.suffix in ARCHIVES:
            extract(path, inside := scratch / name)
            found |= {f"{name}!{member}": what for member, what in _contents(inside, scratch / "deep").items()}
        elif path.suffix == ".csv":
            found[name] = path.read_bytes().decode()
        else:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _submissions(harness: Harness) -> Iterator[tuple[str, bytes]]:
    bases = {"sample": harness.sample, "perfect": harness.perfect}
    yield from bases.items()
    for mutant in islice(mutants(bases, harness.ids, harness.seed), MUTANTS):
        if _passes(mutant.data, harness.folder / "guarded.csv"):
            yield mutant.name, mutant.data


def _own_submissions(harness: Harness, oracle: ModuleType) -> Iterator[tuple[str, bytes]]:
    if not hasattr(oracle, "submissions"):
        return
    answers = pd.read_csv(harness.prepared / harness.facts.answers, float_precision="round_trip")
    for number, table in enumerate(oracle.submissions(answers, RandomState(harness.seed))):
        yield f"its own, number {number}", table.to_csv(index=False).encode()


def _passes(data: bytes, path: Path) -> bool:
    """The guard of all competitions refuses some files, such as with NUL bytes, before any sheet applies."""
    path.write_bytes(data)
    try:
        guard(path)
    except InvalidSubmission:
        return False
    return True


def _difference(harness: Harness, oracle: ModuleType, private: Path, name: str, data: bytes) -> str | None:
    path = harness.folder / "oracle.csv"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            score = float(oracle.grade(path, private))
            reason = ""
        except Exception as error:  # a published script crashes on what it does not foresee
            score, reason = None, repr(error)
    response = harness.grade(data)
    if response.score is None or score is None:
        if response.score is score:
            return None
        return f"{name}: package {response}, oracle {score} {reason}"
    alike = math.isclose(response.score, score, rel_tol=0, abs_tol=1e-9) or (
        math.isnan(response.score) and math.isnan(score)
    )
    return None if alike else f"{name}: package {response.score}, oracle {score}"
