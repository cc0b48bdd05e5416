"""A disk of a test's own, ext4 on an image, that can lose power and be unplugged. Needs root and loop devices."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlecore.util.child_environment import child_environment

EXT4_IOC_SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = 2  # what the journal has not written yet is lost, as when the power goes


class Disk:
    """Mounted at ``at`` from the beginning, until ``close``."""

    def __init__(self, folder: Path, size: int = 256 << 20) -> None:
        """``folder`` is made; ``size``: bytes. Raises OSError or CalledProcessError where none can be made."""
        folder.mkdir(parents=True, exist_ok=True)
        self.image, self.at = folder / "image", folder / "disk"
        self.at.mkdir()
        with self.image.open("wb") as out:
            out.truncate(size)
        _call("mkfs.ext4", "-q", "-F", str(self.image))
        self.mount()

    def mount(self) -> None:
        _call("mount", "-o", "loop", str(self.image), str(self.at))
        self.at.chmod(0o755)

    def unplug(self) -> None:
        """Away, with what was written; files that are open stay so."""
        _call("umount", "--lazy", str(self.at))

    def lose_power(self) -> None:
        """Mount the disk again with only what had reached it by now."""
        descriptor = os.open(self.at, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, EXT4_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(descriptor)
        self.unplug()
        before, self.image = self.image, self.image.with_name(f"{self.image.name}+")
        _call("cp", "--sparse=always", str(before), str(self.image))  # who has a file open keeps the dead one mounted
        before.unlink()
        self.mount()

    def close(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.at)], env=child_environment(), capture_output=True, check=False)
        self.image.unlink(missing_ok=True)


def _call(*command: str) -> None:
    subprocess.run(command, env=child_environment(), capture_output=True, check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A disk that can lose power and go away."""
    try:
        mounted = Disk(tmp_path / "own-disk")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no disk can be made here: {error}")
    yield mounted
    mounted.close()
