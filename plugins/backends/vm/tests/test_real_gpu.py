"""Jobs on a real NVIDIA GPU: they compute on those they were given, and see no others."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mle_backend_vm import gpus

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not gpus.found(), reason="this machine has no NVIDIA GPU"),
]
PROGRAM = Path(__file__).with_name("cuda_sum.py").read_text()
SUM = sum(range(0, 3 << 20, 3))  # none of the kernel's 32-bit numbers overflows
HELD = 2 << 30


def memory_used() -> int:
    """MiB of GPU 0."""
    words = ["nvidia-smi", "--id=0", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("isolation", ["bubblewrap", "none"])
def test_a_job_computes_on_its_gpu(make_lab: Callable[..., Any], isolation: str) -> None:
    lab = make_lab(isolation=isolation, gpus="0")
    handle = lab.start("python3", "-c", PROGRAM, gpus=1)
    status = lab.wait(handle)
    model = gpus.found()["0"].model
    assert f"GPU: {model}; sum {SUM}" in lab.output(handle)
    assert status.hardware.gpus == (model,)


def test_a_job_without_gpus_sees_none(make_lab: Callable[..., Any]) -> None:
    lab = make_lab(gpus="0")
    _, output = lab.run("python3", "-c", PROGRAM)
    assert output.startswith("devices:\n") and "GPU:" not in output
    _, output = lab.run("/bin/sh", "-c", "nvidia-smi -L; ls /dev /proc/driver/nvidia/gpus")
    assert "GPU 0" not in output and "nvidia0" not in output


def test_a_gpu_is_free_again_when_a_job_was_stopped(make_lab: Callable[..., Any]) -> None:
    before = memory_used()
    lab = make_lab(gpus="0")
    holder = lab.start("python3", "-c", PROGRAM, str(HELD), gpus=1, time_limit=8.0, name="mle-a-1")
    waiting = lab.start("python3", "-c", PROGRAM, gpus=1, name="mle-b-1")
    assert "waits for a GPU" in lab.status(waiting).reason
    assert lab.wait(holder).phase == "exited"
    assert "holding" in lab.output(holder)
    lab.wait(waiting)
    assert f"sum {SUM}" in lab.output(waiting)
    assert memory_used() < before + HELD // (1 << 20) // 2
