"""Bringing files out of a container, running or ended: streamed, regular files only, never more than the limit.

The engine sends a tar archive of a path. What comes is the agent's doing, so nothing in it is believed: names are
checked, links and special files are refused, a size beyond what is left of the limit is not read into a file. Folders
on the way to what is asked for must be folders, not links.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from attrs import define, field

from mle_backend_docker import names
from mle_backend_docker.engine import Engine
from mle_backend_docker.patterns import Glob
from mlecore.backends import Fetched, Handle
from mlecore.errors import BackendError, DataError

if TYPE_CHECKING:
    from docker import APIClient

MOST_REFUSED = 100  # named one by one
MOST_FILES = 200_000
SKIPPED = 8 * 1024**3  # bytes of a stream that may go by without being wanted before it is given up
RELAY_LOG = PurePosixPath("logs/relay.jsonl")
_LINK, _FOLDER = 1 << 27, 1 << 31  # bits of Go's file mode


@define
class Receiver:
    """What has come so far."""

    into: Path
    limit: int
    files: int = 0
    bytes: int = 0
    skipped: int = 0
    complete: bool = True
    refused: list[str] = field(factory=list)
    seen: set[PurePosixPath] = field(factory=set)

    @property
    def left(self) -> int:
        return self.limit - self.bytes

    def refuse(self, path: PurePosixPath | str, why: str) -> None:
        if len(self.refused) < MOST_REFUSED:
            self.refused.append(f"{str(path)[:300]!a}: {why}")
        elif len(self.refused) == MOST_REFUSED:
            self.refused.append("and more")

    def cut(self, path: PurePosixPath, why: str) -> None:
        self.complete = False
        self.refuse(path, why)

    def fetched(self) -> Fetched:
        return Fetched(files=self.files, bytes=self.bytes, refused=tuple(self.refused), complete=self.complete)


def fetch(engine: Engine, handle: Handle, globs: Sequence[str], into: Path, limit: int) -> Fetched:
    """See Backend.fetch."""
    into.mkdir(parents=True)
    receiver = Receiver(into, limit)
    container = _container(engine, handle)
    wanted = []
    for text in globs:
        try:
            wanted.append(Glob(text))
        except ValueError as error:
            receiver.refuse(text, str(error))
    _relay_log(engine, handle, wanted, receiver)
    for glob in wanted:
        if glob.prefix == PurePosixPath("."):
            with _without_data(engine, container) as other:
                _fetch_glob(engine, other, glob, receiver)
        else:
            _fetch_glob(engine, container["Id"], glob, receiver)
    return receiver.fetched()


def _container(engine: Engine, handle: Handle) -> dict[str, Any]:
    import docker.errors

    with engine.asking(f"looking for {handle.name}"):
        try:
            found: dict[str, Any] = engine.api.inspect_container(names.container(handle) or handle.name)
        except docker.errors.NotFound:
            raise BackendError(
                f"{handle.name} is no longer at this engine, so nothing can be fetched from it"
            ) from None
    return found


@contextmanager
def _without_data(engine: Engine, container: dict[str, Any]) -> Iterator[str]:
    """A container, never started, that shows the same home without the data mounted in it: for globs like ``*.csv``."""
    volume = next((mount["Name"] for mount in container["Mounts"] if mount["Destination"] == "/home"), None)
    if volume is None:
        raise BackendError(f"{container['Name']} has lost its volume")
    labels = container["Config"]["Labels"]
    config = {
        "Image": container["Image"],
        "Entrypoint": [],
        "Cmd": ["true"],
        "Labels": {**labels, names.ROLE: "fetch", names.GPUS: ""},
        "NetworkDisabled": True,
        "HostConfig": {"Mounts": [{"Type": "volume", "Source": volume, "Target": "/home", "ReadOnly": True}]},
    }
    with engine.asking("looking at home"):
        id = engine.api.create_container_from_config(config)["Id"]
    try:
        yield str(id)
    finally:
        with engine.asking("removing what was made to look at home"):
            engine.api.remove_container(id, force=True)


def _fetch_glob(engine: Engine, container: str, glob: Glob, receiver: Receiver) -> None:
    import docker.errors

    with engine.asking("fetching files"):
        if not _leads_there(engine, container, glob, receiver):
            return
        root = PurePosixPath("/home") / glob.prefix
        api = engine.api
        answer = api.get(
            _archive(api, container),
            params={"path": str(root)},
            headers={"Accept-Encoding": "identity"},  # it comes over a local socket
            stream=True,
            timeout=api.timeout,
        )
        try:
            api._raise_for_status(answer)
            _unpack(answer.raw, glob, receiver, bare=engine.is_podman)
        except docker.errors.NotFound:
            return
        except (tarfile.TarError, EOFError) as error:
            receiver.cut(glob.prefix, f"it changed while it was read ({error})")
        finally:
            answer.close()  # what was not read of it does not come


def _leads_there(engine: Engine, container: str, glob: Glob, receiver: Receiver) -> bool:
    """Is each folder on the way a folder?"""
    for folder in [path for path in reversed(glob.prefix.parents) if path != PurePosixPath(".")]:
        mode = _mode(engine, container, f"/home/{folder}")
        if mode is None:
            return False
        if mode & _LINK or not mode & _FOLDER:
            receiver.refuse(folder, "a link or no folder")
            return False
    return True


def _archive(api: APIClient, container: str) -> str:
    return str(api._url("/containers/{0}/archive", container))


def _mode(engine: Engine, container: str, path: str) -> int | None:
    """Go's file mode of a path, not following a link at its end; None where nothing is there."""
    api = engine.api
    answer = api.head(_archive(api, container), params={"path": path}, timeout=api.timeout)
    if answer.status_code == 404:
        return None
    answer.raise_for_status()
    stat = json.loads(base64.b64decode(answer.headers["X-Docker-Container-Path-Stat"]))
    if stat.get("linkTarget") not in ("", None, path):  # Podman has followed it
        return _LINK
    return int(stat["mode"])


def _unpack(source: IO[bytes], glob: Glob, receiver: Receiver, bare: bool = False) -> None:
    """``bare``: of home as a whole, names come as ``/logs/x`` instead of ``home/logs/x``, as Podman has them."""
    bare = bare and not glob.prefix.parts
    # The archive's names begin with the last part of what was asked for.
    above = glob.prefix.parent if glob.prefix.parts else None
    with tarfile.open(fileobj=source, mode="r|", errorlevel=1) as tar:
        for member in tar:
            name = PurePosixPath("home" + member.name if bare else member.name)
            if name.is_absolute() or ".." in name.parts:
                receiver.refuse(member.name, "a name that leads elsewhere")
                continue
            path = above / name if above is not None else PurePosixPath(*name.parts[1:])
            if member.isdir() or not glob.matches(path) or path in receiver.seen:
                receiver.skipped += member.size
            elif member.isreg():
                _take(tar, member, path, receiver)
            elif member.islnk():
                _take_again(member, above, path, receiver)
            else:
                receiver.refuse(path, _kind(member))
            if receiver.skipped > SKIPPED or len(receiver.seen) > MOST_FILES:
                receiver.cut(path, "too much to go through; what follows it was left out")
                return


def _take(tar: tarfile.TarFile, member: tarfile.TarInfo, path: PurePosixPath, receiver: Receiver) -> None:
    receiver.seen.add(path)
    if member.size > receiver.left:
        receiver.skipped += member.size
        receiver.cut(path, f"its {member.size} bytes are more than what is left of the limit of {receiver.limit}")
        return
    content = tar.extractfile(member)
    out = _open(path, receiver)
    if content is None or out is None:
        return
    with out:
        try:
            while chunk := content.read(1 << 20):
                _write(out, chunk, receiver)
        except tarfile.TarError:
            out.truncate(0)  # half a file is none
            raise
    receiver.files += 1
    receiver.bytes += member.size


def _take_again(member: tarfile.TarInfo, above: PurePosixPath | None, path: PurePosixPath, receiver: Receiver) -> None:
    """A second name of a file that has come already."""
    receiver.seen.add(path)
    link = PurePosixPath(member.linkname)
    first = receiver.into / (above / link if above is not None else PurePosixPath(*link.parts[1:]))
    if link.is_absolute() or ".." in link.parts or first.is_symlink() or not first.is_file():
        receiver.refuse(path, "another name of a file that was not fetched")
        return
    if first.stat().st_size > receiver.left:
        receiver.cut(path, "beyond the limit")
        return
    out = _open(path, receiver)
    if out is not None:
        with out, first.open("rb") as content:
            while chunk := content.read(1 << 20):
                _write(out, chunk, receiver)
        receiver.files += 1
        receiver.bytes += first.stat().st_size


def _open(path: PurePosixPath, receiver: Receiver) -> IO[bytes] | None:
    """A new file for it, or None where there cannot be one by this name."""
    target = receiver.into / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb")
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DataError(f"the disk of {receiver.into} is full") from error
        receiver.refuse(path, f"cannot be stored here by this name ({error})")
        return None


def _write(out: IO[bytes], chunk: bytes, receiver: Receiver) -> None:
    try:
        out.write(chunk)
    except OSError as error:
        raise DataError(f"what a run left cannot be written into {receiver.into}: {error.strerror}") from error


def _kind(member: tarfile.TarInfo) -> str:
    for test, word in (
        (member.issym(), f"a symbolic link to {member.linkname[:200]!a}"),
        (member.isfifo(), "a FIFO"),
        (member.ischr() or member.isblk(), "a device"),
    ):
        if test:
            return word
    return "no regular file"


def _relay_log(engine: Engine, handle: Handle, globs: Sequence[Glob], receiver: Receiver) -> None:
    """What the relay let through and refused, as logs/relay.jsonl; the agent cannot put another one in its place."""
    import docker.errors

    if not any(glob.matches(RELAY_LOG) for glob in globs):
        return
    with engine.asking("fetching the relay's log"):
        try:
            log = engine.api.logs(names.relay(handle.name), stderr=False)
        except docker.errors.NotFound:
            return
    if len(log) > receiver.left:
        receiver.cut(RELAY_LOG, "beyond the limit")
        return
    out = _open(RELAY_LOG, receiver)
    if out is not None:
        with out:
            _write(out, log, receiver)
        receiver.seen.add(RELAY_LOG)
        receiver.files += 1
        receiver.bytes += len(log)
