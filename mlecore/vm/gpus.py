"""The NVIDIA GPUs of this machine, as the driver reports them in /proc; no program is run."""

from __future__ import annotations

from pathlib import Path

_SHARED = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps")


def minors(proc: Path = Path("/proc/driver/nvidia/gpus")) -> dict[str, str]:
    """Id as nvidia-smi counts (by bus) -> number of the device file."""
    out: dict[str, str] = {}
    try:
        folders = sorted(proc.iterdir())
    except OSError:
        return out
    for number, folder in enumerate(folders):
        rows = (line.partition(":") for line in (folder / "information").read_text().splitlines())
        out[str(number)] = next((value.strip() for key, _, value in rows if key == "Device Minor"), str(number))
    return out


def binds(gpu: str, known: dict[str, str], dev: Path = Path("/dev")) -> list[str]:
    """Options of bubblewrap that show one GPU and what all of them share."""
    names = (f"nvidia{known.get(gpu, gpu)}", *_SHARED)
    return [word for name in names if (dev / name).exists() for word in ("--dev-bind", str(dev / name), f"/dev/{name}")]
