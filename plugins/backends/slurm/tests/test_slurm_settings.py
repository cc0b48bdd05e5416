"""What options and resources become on sbatch's command line."""

from __future__ import annotations

import pytest
from mle_backend_slurm.settings import Settings, sbatch_options

from mlecore.errors import UsageError
from mlecore.model.backends import Resources
from mlecore.model.options import read_settings


def options(resources: Resources, **given: str) -> tuple[str, ...]:
    return sbatch_options(read_settings(Settings, given, "backend slurm"), resources)


def test_a_runs_resources() -> None:
    given = {"partition": "gpu", "account": "lab", "gpu-type": "a100", "sbatch": "--nice=5 --exclusive"}
    resources = Resources(cpus=1.5, memory=1 << 30, gpus=2, time_limit=3600.0, grace=60.0)
    found = options(resources, **given)
    assert {"--cpus-per-task=2", "--mem=1280M", "--gres=gpu:a100:2", "--time=71", "--no-requeue"} <= set(found)
    assert found[-4:] == ("--partition=gpu", "--account=lab", "--nice=5", "--exclusive")


def test_what_is_not_asked_for_is_left_to_slurm() -> None:
    found = " ".join(options(Resources(time_limit=60.0)))
    assert not any(word in found for word in ("--mem", "--cpus", "--gres", "--partition"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("sbatch", "--array=0-3"), ("sbatch", "job.sh"), ("sbatch", "--wrap=true"), ("sbatch", "'--nice"), ("poll", "0")],
)
def test_what_sbatch_must_not_be_given(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"option {name}="):
        options(Resources(), **{name: value})
