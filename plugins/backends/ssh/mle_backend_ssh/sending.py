"""Send files to a host: a job's, and a competition's public data, of which it gets what it lacks."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mle_backend_ssh.link import Channel
from mle_backend_ssh.remote import wire
from mlecore.data import manifest
from mlecore.errors import DataError
from mlecore.model.backends import Dataset, Progress
from mlecore_sandboxes.data import chunks, listed

if TYPE_CHECKING:
    from mle_backend_ssh.host import Host


def send_dataset(host: Host, dataset: Dataset, progress: Progress) -> str:
    """The folder on the host. Public files only: what else lies beside them is never read."""
    name = f"{dataset.competition}-{hashlib.sha256(f'{dataset.edition} {dataset.digest}'.encode()).hexdigest()[:16]}"
    with host.open("receive", name) as channel:
        head, _ = host.read(channel, ("complete", "send the list"))
        if head.get("kind") == "send the list":
            _send(host, channel, dataset, progress)
        else:
            progress(1, 1, f"{dataset.competition}: on {host.name}")
        folder: str = host.result(channel)
    return folder


def _send(host: Host, channel: Channel, dataset: Dataset, progress: Progress) -> None:
    entries = []
    for entry in _entries(dataset):
        entries.append(entry)
        channel.stdin.write(wire.line({"path": entry.path, "bytes": entry.size, "sha256": entry.sha256}))
    wire.write(channel.stdin, {})
    wanted = list(_wanted(host, channel))
    total = sum(entry.size for entry in entries)
    done = total - sum(entries[number].size - offset for number, offset in wanted)
    for number, offset in wanted:
        with (dataset.public / entries[number].path).open("rb") as source:
            source.seek(offset)
            for chunk in chunks(source, entries[number].size - offset, wire.CHUNK):
                channel.stdin.write(chunk)
                done += len(chunk)
                progress(done, total, f"{dataset.competition}: to {host.name}")
    channel.stdin.flush()


def _wanted(host: Host, channel: Channel) -> Iterator[tuple[int, int]]:
    """Numbers of the files that the host lacks, and from which byte on."""
    while True:
        head, _ = host.read(channel, ("want", "wanted"))
        if head.get("kind") != "want":
            return
        yield int(head["number"]), int(head["from"])


def _entries(dataset: Dataset) -> Iterator[manifest.Entry]:
    """The public files, with the checksums of the manifest beside them, or, where there is none, counted now."""
    if (known := listed(dataset.public)) is not None:
        yield from (manifest.Entry(path, entry.size, entry.sha256) for path, entry in known.items())
        return
    for path in sorted(dataset.public.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise DataError(f"{path} is neither a file nor a folder; public data contain no others")
        if path.is_file():
            name, size = path.relative_to(dataset.public).as_posix(), path.stat().st_size
            yield manifest.Entry(name, size, manifest.sha256(str(path)))


def numbered(content: Mapping[str, bytes | Path], first: int) -> tuple[dict[str, bytes | Path], list[Path]]:
    """The files, with numbers in the place of paths, and these paths."""
    out: dict[str, bytes | Path] = {}
    sources: list[Path] = []
    for name, value in content.items():
        if isinstance(value, Path):
            out[name] = Path(str(first + len(sources)))
            sources.append(value)
        else:
            out[name] = value
    return out, sources


def send_file(stdin: IO[bytes], number: int, path: Path) -> None:
    with path.open("rb") as source:
        seen = os.fstat(source.fileno())
        head = {"kind": "file", "file": number, "length": seen.st_size, "executable": bool(seen.st_mode & 0o100)}
        wire.write(stdin, head)
        for chunk in chunks(source, seen.st_size, wire.CHUNK):
            stdin.write(chunk)
