"""What sbatch would not take is reported before a group starts, and what it takes later does not keep one from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from mle_backend_slurm import doctor
from mle_backend_slurm.building import JobResult
from mle_backend_slurm.commands import Slurm, explained
from mle_backend_slurm.settings import Settings

from mlecore.errors import BackendUnreachable
from mlecore.model.backends import Problem

BUSY = (
    "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
)
UNKNOWN = "allocation failure: Requested node configuration is not available"


class Rejecting(Slurm):
    """sbatch answers with these errors, one after the other, and then accepts."""

    def __init__(self, *said: str) -> None:
        super().__init__()
        self.said = list(said)

    def run(self, *argv: str) -> str:
        if self.said:
            raise explained(argv[0], f"sbatch: error: {self.said.pop(0)}")
        return "77"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_REGISTERED", 0.0)
    monkeypatch.setattr(doctor, "installed", lambda: True)


def rejections(folder: Path, *said: str) -> list[Problem]:
    found = doctor.problems(Settings(state=folder), Rejecting(*said), ())
    return [problem for problem in found if "sbatch" in problem.description]


def test_a_limit_that_is_used_up_for_now_keeps_nobody_from_resuming(tmp_path: Path) -> None:
    (problem,) = rejections(tmp_path, BUSY)
    assert not problem.fatal and "job submit limit" in problem.description and "--max-parallel" in problem.fix


def test_a_build_waits_for_such_a_limit(tmp_path: Path) -> None:
    job = JobResult(Settings(state=tmp_path), Rejecting(BUSY), "builds", ())
    with pytest.raises(BackendUnreachable, match="job submit limit"):  # mlecore asks again
        job.submit("build")
    job.submit("build")
    assert job.id == "77"
