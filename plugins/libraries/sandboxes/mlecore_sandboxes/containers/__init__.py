"""What the backends docker and kubernetes share: images, options, the files of a job, and how an end is reported."""

from __future__ import annotations

import io
import ipaddress
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from mlecore.errors import BackendError, UsageError
from mlecore.model.backends import ARGV_KILLED, INIT_KILLED, LOST_SIGHT, Handle, JobStatus
from mlecore.model.options import pairs, words

RELAY_PORT = 3128
INIT_MARGIN = 3.0  # seconds on top of the grace, for init to note down how it ended
STOPPED = "stopped by mlecore"
OVERTIME = "the time limit passed and init did not end the job"


def read_user(text: str) -> tuple[int, int]:
    """``UID`` or ``UID:GID``. Raises UsageError."""
    uid, _, gid = text.partition(":")
    if not uid.isdigit() or not (gid or "0").isdigit() or int(uid) == 0:
        raise UsageError("expected UID or UID:GID, and not root's 0")
    return int(uid), int(gid or uid)


def read_labels(text: str) -> Mapping[str, str]:
    """``name=value,name=value``, or a table as JSON. Raises UsageError."""
    if text.startswith("{"):
        return {name: str(value) for name, value in json.loads(text).items()}
    return pairs(words(text), "labels:")


def below_home(name: str) -> str:
    """The path of a file of a job below home. Raises BackendError for one that leads elsewhere."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or path.parts[0] == "data":
        raise BackendError(f"a file of the run cannot be put at {name!r}: it must lie below home, outside data/")
    return str(path)


def add(tar: tarfile.TarFile, name: str, content: bytes | Path, uid: int = 0, gid: int = 0, mode: int = 0) -> None:
    """Add a file to an archive; without ``mode`` it is executable as ``Job`` says."""
    info = tarfile.TarInfo(name)
    info.uid, info.gid = uid, gid
    with content.open("rb") if isinstance(content, Path) else io.BytesIO(content) as source:
        info.size = source.seek(0, 2)
        source.seek(0)
        executable = source.read(2) == b"#!" or (isinstance(content, Path) and content.stat().st_mode & 0o111)
        info.mode = mode or (0o755 if executable else 0o644)
        source.seek(0)
        tar.addfile(info, source)


def is_loopback(endpoint: str) -> bool:
    """Is this a URL of the machine that asks?"""
    return urlsplit(endpoint).hostname in ("localhost", "127.0.0.1", "::1")


def proxy_url(address: str) -> str:
    """The URL of a relay."""
    host = f"[{address}]" if ipaddress.ip_address(address).version == 6 else address
    return f"http://{host}:{RELAY_PORT}"


def handle_of(name: str, id: str, place: str) -> Handle:
    """``place`` is the engine or the cluster, so that no job is called gone where it never was."""
    return Handle(name=name, id=f"{id}@{place}")


def id_of(handle: Handle) -> str:
    """The id of a container or Job; empty if there was none yet."""
    return handle.id.partition("@")[0]


def place_of(handle: Handle) -> str:
    return handle.id.partition("@")[2]


def exited(code: int | None, reason: str, **more: Any) -> JobStatus:
    return JobStatus(phase="exited", exit_code=code, reason=reason, **more)


def lost(code: int | None, reason: str, **more: Any) -> JobStatus:
    """It ended for reasons outside its sandbox."""
    return exited(code, reason, infra_failure=True, **more)


def of_code(code: int) -> JobStatus:
    """The status by init's exit code alone, where nothing else is known of the end."""
    if code == LOST_SIGHT:
        return lost(code, "its engine lost sight of it: its machine or the container's runtime stopped")
    if code == INIT_KILLED:
        # Or by the kernel, for want of memory on the whole machine, of which engines say nothing.
        return lost(code, "its first process was killed from outside the sandbox", in_doubt=True)
    words = {
        0: "",
        124: "its time was up",
        ARGV_KILLED: "killed by signal 9, by another process of the job or the kernel",
    }
    return exited(code, words.get(code, f"exit code {code}"))
