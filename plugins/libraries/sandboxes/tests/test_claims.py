"""GPUs are given out once at a time, whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlecore_sandboxes import bubblewrap, gpus


def test_jobs_of_two_controllers_never_share_a_gpu(make_lab: Callable[..., Any]) -> None:
    """The ids need no device here: without a sandbox, a GPU is a number in CUDA_VISIBLE_DEVICES."""
    first, second = (make_lab(isolation="none", gpus="0,1") for _ in range(2))
    script = 'echo "gpus $CUDA_VISIBLE_DEVICES"; while ! [ -e stop-here ]; do sleep 0.05; done'
    one = first.start(script, name="mle-a-1", gpus=1)
    first.until(lambda: "gpus" in first.printed(one))
    two = second.start(script, name="mle-b-1", gpus=2)
    first.until(lambda: "waits for a GPU" in second.status(two).reason)
    assert second.status(two).phase == "pending" and "mle-a-1" in second.status(two).reason
    three = second.start(script, name="mle-c-1", gpus=1)
    first.until(lambda: "gpus" in second.printed(three))
    assert {first.printed(one), second.printed(three)} == {"gpus 0\n", "gpus 1\n"}
    first.backend.stop(one, 0.0)
    second.backend.remove(three)
    first.until(lambda: "gpus" in second.printed(two))
    assert second.printed(two) == "gpus 0,1\n"


def test_what_waits_can_be_stopped(make_lab: Callable[..., Any]) -> None:
    lab = make_lab(isolation="none", gpus="0")
    one = lab.start("exec sleep 300", name="mle-a-1", gpus=1)
    lab.until(lambda: lab.status(one).phase == "running")
    two = lab.start("echo ran", name="mle-b-1", gpus=1)
    lab.backend.stop(two, 1.0)
    assert lab.status(two).phase == "exited" and lab.printed(two) == ""


def test_devices_of_one_gpu(tmp_path: Path) -> None:
    """Ids count by bus as nvidia-smi does; the device file's number is the driver's own."""
    for bus, minor in (("0000:01:00.0", 3), ("0000:02:00.0", 1)):
        (tmp_path / "gpus" / bus).mkdir(parents=True)
        (tmp_path / "gpus" / bus / "information").write_text(f"Model: \t\t X\nDevice Minor: \t {minor}\n")
    known = gpus.found(tmp_path / "gpus")
    assert known == {"0": gpus.Gpu("3", "X"), "1": gpus.Gpu("1", "X")}
    for name in ("nvidia1", "nvidia3", "nvidiactl"):
        (tmp_path / name).touch()
    devices = gpus.devices("0", known, tmp_path)
    assert devices == [tmp_path / "nvidia3", tmp_path / "nvidiactl"]
    assert bubblewrap.device(devices[:1]) == ["--dev-bind", f"{tmp_path}/nvidia3", "/dev/nvidia3"]
    assert gpus.found(tmp_path / "none") == {}


@pytest.mark.sandbox
def test_only_the_claimed_devices_are_in_the_sandbox(
    make_lab: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain files stand for the devices: what is tested is which of them a job is shown."""
    (tmp_path / "dev").mkdir()
    for name in ("nvidia0", "nvidia1", "nvidiactl"):
        (tmp_path / "dev" / name).touch()
    devices = gpus.devices
    monkeypatch.setattr(gpus, "devices", lambda gpu, known: devices(gpu, known, tmp_path / "dev"))
    lab = make_lab(gpus="0,1")
    script = "echo $(ls /dev | grep nvidia) $CUDA_VISIBLE_DEVICES; exec sleep 300"
    first = lab.start(script, name="mle-a-1", gpus=1)
    lab.until(lambda: lab.printed(first) != "")
    second = lab.start(script, name="mle-b-1", gpus=1)
    lab.until(lambda: lab.printed(second) != "")
    assert lab.printed(first) == "nvidia0 nvidiactl 0\n"
    assert lab.printed(second) == "nvidia1 nvidiactl 0\n"
