"""The NVIDIA GPUs of this machine, as the driver reports them in /proc; no program is run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

_SHARED = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps")


@frozen
class Gpu:
    """One GPU of this machine."""

    minor: str  # number of its device file
    model: str


def found(proc: Path = Path("/proc/driver/nvidia/gpus")) -> dict[str, Gpu]:
    """GPUs by id as nvidia-smi counts (by bus)."""
    out: dict[str, Gpu] = {}
    try:
        folders = sorted(proc.iterdir())
    except OSError:
        return out
    for number, folder in enumerate(folders):
        rows = (line.partition(":") for line in (folder / "information").read_text().splitlines())
        facts = {key.strip(): value.strip() for key, _, value in rows}
        out[str(number)] = Gpu(facts.get("Device Minor", str(number)), facts.get("Model", ""))
    return out


def devices(gpu: str, known: Mapping[str, Gpu], dev: Path = Path("/dev")) -> list[Path]:
    """The files of one GPU and of what all of them share."""
    names = (f"nvidia{known[gpu].minor if gpu in known else gpu}", *_SHARED)
    return [dev / name for name in names if (dev / name).exists()]
