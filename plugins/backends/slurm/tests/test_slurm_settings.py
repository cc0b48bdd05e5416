"""What options and resources become on sbatch's command line."""

from __future__ import annotations

import pytest
from mle_backend_slurm.settings import OPTIONS, read_settings, sbatch_options

from mlecore.backends import Resources
from mlecore.errors import UsageError


def test_a_runs_resources() -> None:
    settings = read_settings(
        {"partition": "gpu", "account": "lab", "gpu-type": "a100", "sbatch": "--nice=5 --exclusive"}
    )
    resources = Resources(cpus=1.5, memory=1 << 30, gpus=2, time_limit=3600.0, grace=60.0)
    options = sbatch_options(settings, resources)
    assert {"--cpus-per-task=2", "--mem=1280M", "--gres=gpu:a100:2", "--time=71", "--no-requeue"} <= set(options)
    assert options[-4:] == ("--partition=gpu", "--account=lab", "--nice=5", "--exclusive")


def test_what_is_not_asked_for_is_left_to_slurm() -> None:
    options = " ".join(sbatch_options(read_settings({}), Resources(time_limit=60.0)))
    assert not any(word in options for word in ("--mem", "--cpus", "--gres", "--partition"))


def test_copying_data_to_the_node_gets_time() -> None:
    def minutes(**options: str) -> int:
        words = sbatch_options(read_settings(options), Resources(time_limit=60.0))
        return next(int(word.partition("=")[2]) for word in words if word.startswith("--time="))

    assert minutes(scratch="$TMPDIR") >= minutes() + 60


@pytest.mark.parametrize("value", ["--array=0-3", "job.sh", "--wrap=true", "'--nice"])
def test_what_sbatch_must_not_be_given(value: str) -> None:
    with pytest.raises(UsageError):
        read_settings({"sbatch": value})


def test_the_interval_is_what_administrators_accept() -> None:
    (poll,) = (option for option in OPTIONS if option.name == "poll")
    assert poll.default is not None and float(poll.default) >= 30
    with pytest.raises(UsageError):
        read_settings({"poll": "0"})
