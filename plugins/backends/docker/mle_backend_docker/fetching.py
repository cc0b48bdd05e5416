"""Bringing files out of a container, running or ended: streamed, regular files only, never more than the limit.

The engine sends a tar archive of a path. What comes is the agent's doing, so nothing in it is believed: names are
checked, links and special files are rejected, a size beyond what is left of the limit is not read into a file. Folders
on the way to what is asked for must be folders, not links.
"""

from __future__ import annotations

import base64
import io
import json
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from mle_backend_docker import gateway
from mlecore.errors import BackendError
from mlecore.model.backends import Handle
from mlecore.util.globs import Glob
from mlecore_jobs.fetching import GATEWAY_LOG, RELAY_LOG, TRANSCRIPTS, Fetched, Receiver
from mlecore_sandboxes.containers import names
from mlecore_sandboxes.containers.engine import Engine

if TYPE_CHECKING:
    from docker import APIClient

SKIPPED = 8 * 1024**3  # bytes of a stream that may go by without being wanted before it is given up
MAX_NAMES = 500_000  # of one stream
_LINK, _FOLDER = 1 << 27, 1 << 31  # bits of Go's file mode


def fetch(engine: Engine, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
    """See Backend.fetch."""
    wanted = [Glob(text) for text in globs]
    container = engine.container(handle.name)
    if container is None:
        raise BackendError(f"{handle.name} is no longer on this engine, so nothing can be fetched from it")
    receiver = Receiver(into, max_bytes, max_files)
    _gateway_logs(engine, handle, wanted, receiver)
    _relay_log(engine, handle, wanted, receiver)
    for glob in wanted:
        if receiver.full:
            break
        if glob.prefix.parts:
            _fetch_glob(engine, container["Id"], glob, receiver)
        else:
            with _without_data(engine, container) as other:
                _fetch_glob(engine, other, glob, receiver)
    return receiver.fetched()


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
    with engine.request("looking at home"):
        id = engine.api.create_container_from_config(config)["Id"]
    try:
        yield str(id)
    finally:
        engine.remove(id)


def _fetch_glob(engine: Engine, container: str, glob: Glob, receiver: Receiver) -> None:
    import docker.errors

    with engine.request("fetching files"):
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
    """Go's file mode of a path, not following a link at its end; None if nothing is there."""
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
    skipped = 0
    empty: PurePosixPath | None = None  # a folder that matches and has had no member yet
    with tarfile.open(fileobj=source, mode="r|", errorlevel=1) as tar:
        for count, member in enumerate(tar, 1):
            name = PurePosixPath("home" + member.name if bare else member.name)
            if name.is_absolute() or ".." in name.parts:
                receiver.refuse(member.name, "a name that leads elsewhere")
                continue
            path = above / name if above is not None else PurePosixPath(*name.parts[1:])
            if empty is not None and not path.is_relative_to(empty):
                receiver.pass_empty(empty)
            empty = path if member.isdir() and glob.matches(path) else None
            before = receiver.bytes
            if not member.isdir() and glob.matches(path) and receiver.wants(path):
                _take(tar, member, above, path, receiver)
            if receiver.full:
                return
            skipped += member.size if receiver.bytes == before else 0
            if skipped > SKIPPED or count >= MAX_NAMES:
                receiver.cut(path, "too much to go through; what follows it was left out")
                return
    if empty is not None:
        receiver.pass_empty(empty)


def _take(
    tar: tarfile.TarFile, member: tarfile.TarInfo, above: PurePosixPath | None, path: PurePosixPath, receiver: Receiver
) -> None:
    if member.isreg():
        content = tar.extractfile(member)
        if content is not None:
            receiver.take(path, member.size, content)
    elif member.islnk():
        _take_again(member, above, path, receiver)
    else:
        receiver.refuse(path, _kind(member))


def _take_again(member: tarfile.TarInfo, above: PurePosixPath | None, path: PurePosixPath, receiver: Receiver) -> None:
    """A second name of a file that has come already."""
    link = PurePosixPath(member.linkname)
    first = receiver.into / (above / link if above is not None else PurePosixPath(*link.parts[1:]))
    if link.is_absolute() or ".." in link.parts or first.is_symlink() or not first.is_file():
        receiver.refuse(path, "another name of a file that was not fetched")
        return
    with first.open("rb") as content:
        receiver.take(path, first.stat().st_size, content)


def _kind(member: tarfile.TarInfo) -> str:
    for test, word in (
        (member.issym(), f"a symbolic link to {member.linkname[:200]!a}"),
        (member.isfifo(), "a FIFO"),
        (member.ischr() or member.isblk(), "a device"),
    ):
        if test:
            return word
    return "not a regular file"


def _relay_log(engine: Engine, handle: Handle, globs: Sequence[Glob], receiver: Receiver) -> None:
    """The relay prints its log."""
    import docker.errors

    if not any(glob.matches(RELAY_LOG) for glob in globs):
        return
    with engine.request("fetching the relay's log"):
        try:
            log = engine.api.logs(names.relay(handle.name), stderr=False)
        except docker.errors.NotFound:
            return
    receiver.take_outside_log(RELAY_LOG, globs, io.BytesIO(log))


def _gateway_logs(engine: Engine, handle: Handle, globs: Sequence[Glob], receiver: Receiver) -> None:
    """What the gateway wrote, if the job has one."""
    for path in (GATEWAY_LOG, TRANSCRIPTS):
        if any(glob.matches(path) for glob in globs):
            with _file(engine, names.gateway(handle.name), gateway.FOLDER / path.name) as source:
                if source is not None:
                    receiver.take_outside_log(path, globs, source)


@contextmanager
def _file(engine: Engine, container: str, path: PurePosixPath) -> Iterator[IO[bytes] | None]:
    """One file of a container; None if there is none."""
    import docker.errors

    with tempfile.TemporaryFile() as packed:
        with engine.request(f"fetching {path.name} of {container}"):
            try:
                pieces, _ = engine.api.get_archive(container, str(path))
            except docker.errors.NotFound:
                yield None
                return
            for piece in pieces:
                packed.write(piece)
        packed.seek(0)
        with tarfile.open(fileobj=packed) as tar:
            member = tar.next()
            yield tar.extractfile(member) if member is not None and member.isreg() else None
