"""What a sandbox shows of this machine, whichever program makes it: each path inside, and what lies there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Literal

from attrs import frozen

from mlecore.model.agents import HOME
from mlecore.model.backends import TOOLS, Job

# From /etc only what programs need to run; nothing about the machine's users, keys or services.
_ETC = (
    "alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "fonts", "gai.conf", "host.conf",
    "java", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "magic", "mime.types", "nsswitch.conf",
    "OpenCL", "pki", "protocols", "services", "ssl", "timezone", "vulkan",
)  # fmt: skip
_SYS = ("/sys/devices/system/cpu", "/sys/devices/system/node")
_GPU_SYS = ("/sys/bus/pci", "/sys/class/drm", "/sys/devices", "/sys/module/nvidia")
_ROOT_LINKS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")

Isolation = Literal["bubblewrap", "apptainer", "none"]


@frozen
class Shown:
    """A file or folder of this machine under a path of the sandbox, or a link."""

    inside: Path
    outside: Path  # of a link: where it leads, inside
    how: Literal["read", "write", "link"] = "read"


def system(network: bool, more: Iterable[str] = ()) -> Iterator[Shown]:
    """The machine's own programs and libraries; ``network``: with its names of hosts; ``more``: other names in /etc."""
    yield Shown(Path("/usr"), Path("/usr"))
    for name in _ROOT_LINKS:
        path = Path("/", name)
        if path.is_symlink():
            yield Shown(path, path.readlink(), "link")
        elif path.is_dir():
            yield Shown(path, path)
    for name in (*_ETC, *(("hosts", "resolv.conf") if network else ()), *more):
        path = Path("/etc", name)
        if path.exists():  # resolv.conf and localtime are links to files that are not in the sandbox
            yield Shown(path, path.resolve())


def hardware(gpus: bool) -> Iterator[Shown]:
    """How the kernel describes CPUs and, for those who have them, GPUs."""
    yield from (Shown(path, path) for path in map(Path, _SYS + (_GPU_SYS if gpus else ())) if path.exists())


def job(job: Job, folder: Path, names: Iterable[str]) -> Iterator[Shown]:
    """Its own folders, the data, and ``names`` in /etc, which lie in ``folder``."""
    yield Shown(Path("/tmp"), folder / "tmp", "write")
    yield Shown(Path("/var/tmp"), Path("/tmp"), "link")
    yield Shown(Path(HOME), folder / "home", "write")
    yield Shown(Path(HOME / "data"), Path(job.data))
    yield Shown(Path(TOOLS), folder / "opt")
    yield from (Shown(Path("/etc", name), folder / "etc" / name) for name in names)


def environment(binds: Iterable[Path], files: Mapping[PurePosixPath, Path]) -> Iterator[Shown]:
    """``binds`` under their own paths, ``files`` under others."""
    yield from (Shown(path, path) for path in sorted(set(binds)) if not path.is_relative_to("/usr"))
    yield from (Shown(Path(inside), outside) for inside, outside in files.items())


def build(folder: Path, cache: Path, target: Path, reads: Iterable[Path], names: Iterable[str]) -> Iterator[Shown]:
    """For a step of a build: it writes to ``target`` and ``cache``, and sees ``reads`` under their own paths."""
    for inside, outside in (("/tmp", folder / "tmp"), ("/home", folder / "home"), ("/cache", cache)):
        yield Shown(Path(inside), outside, "write")
    yield from (Shown(Path("/etc", name), folder / "etc" / name) for name in names)
    there = [Path("/usr"), *(Path("/etc", name) for name in _ETC)]
    for path in sorted(set(reads)):
        if not any(path.is_relative_to(shown) for shown in there):
            yield Shown(path, path)
    yield Shown(target, target, "write")
