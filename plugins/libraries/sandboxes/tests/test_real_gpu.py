"""Jobs on a real NVIDIA GPU: they compute on those they were given, and see no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlecore_sandboxes import gpus

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not gpus.found(), reason="this machine has no NVIDIA GPU"),
]
PROGRAM = Path(__file__).with_name("cuda_sum.py").read_text()
SUM = sum(range(0, 3 << 20, 3))  # none of the kernel's 32-bit numbers overflows


@pytest.mark.parametrize("isolation", ["bubblewrap", "none"])
def test_a_job_computes_on_its_gpu(make_lab: Callable[..., Any], isolation: str) -> None:
    lab = make_lab(isolation=isolation, gpus="0")
    handle = lab.start(argv=("python3", "-c", PROGRAM), gpus=1)
    status = lab.wait(handle)
    model = gpus.found()["0"].model
    assert f"GPU: {model}; sum {SUM}" in lab.printed(handle)
    assert status.hardware.gpus == (model,)


def test_a_job_without_gpus_sees_none(make_lab: Callable[..., Any]) -> None:
    lab = make_lab(gpus="0")
    _, output = lab.run(argv=("python3", "-c", PROGRAM))
    assert output.startswith("devices:\n") and "GPU:" not in output
    _, output = lab.run("nvidia-smi -L; ls /dev /proc/driver/nvidia/gpus")
    assert "GPU 0" not in output and "nvidia0" not in output
