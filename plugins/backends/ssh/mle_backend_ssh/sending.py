"""Send a competition's public data to a host, which says what of it is missing there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from mle_backend_ssh.link import Channel, Requests
from mle_backend_ssh.remote import wire
from mlecore.backends import Dataset, Progress
from mlecore.data import manifest
from mlecore.errors import DataError

_PUBLIC = "public/"


def send_dataset(requests: Requests, dataset: Dataset, progress: Progress) -> str:
    """The folder on the host. Public files only: what else lies beside them is never read."""
    name = f"{dataset.competition}-{hashlib.sha256(f'{dataset.edition} {dataset.digest}'.encode()).hexdigest()[:16]}"
    with requests.open("receive", name) as channel:
        head, _ = requests.read(channel, ("complete", "send the list"))
        if head.get("kind") == "send the list":
            _send(requests, channel, dataset, progress)
        else:
            progress(1, 1, f"{dataset.competition}: on {requests.link.name}")
        folder: str = requests.result(channel)
    return folder


def _send(requests: Requests, channel: Channel, dataset: Dataset, progress: Progress) -> None:
    entries = []
    for entry in _entries(dataset):
        entries.append(entry)
        channel.stdin.write(wire.line({"path": entry.path, "bytes": entry.size, "sha256": entry.sha256}))
    wire.write(channel.stdin, {})
    wanted = list(_wanted(requests, channel))
    total = sum(entry.size for entry in entries)
    done = total - sum(entries[number].size - offset for number, offset in wanted)
    for number, offset in wanted:
        with (dataset.public / entries[number].path).open("rb") as source:
            source.seek(offset)
            left = entries[number].size - offset
            while left:
                chunk = source.read(min(wire.CHUNK, left))
                if not chunk:
                    raise DataError(f"{source.name} is shorter than its manifest says", fix="mlecore prepare again")
                channel.stdin.write(chunk)
                left -= len(chunk)
                done += len(chunk)
                progress(done, total, f"{dataset.competition}: to {requests.link.name}")
    channel.stdin.flush()


def _wanted(requests: Requests, channel: Channel) -> Iterator[tuple[int, int]]:
    """Numbers of the files that the host lacks, and from which byte on."""
    while True:
        head, _ = requests.read(channel, ("want", "wanted"))
        if head.get("kind") != "want":
            return
        yield int(head["number"]), int(head["from"])


def _entries(dataset: Dataset) -> Iterator[manifest.Entry]:
    """The public files, with the checksums of the manifest beside them, or, where there is none, counted now."""
    root = dataset.public.parent
    if dataset.public.name == _PUBLIC.rstrip("/") and manifest.read_head(root) is not None:
        found = (entry for entry in manifest.read_files(root) if entry.path.startswith(_PUBLIC))
        yield from (manifest.Entry(entry.path.removeprefix(_PUBLIC), entry.size, entry.sha256) for entry in found)
        return
    for path in sorted(dataset.public.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise DataError(f"{path} is neither a file nor a folder; public data may hold no others")
        if path.is_file():
            yield manifest.Entry(path.relative_to(dataset.public).as_posix(), path.stat().st_size, _sha256(path))


def _sha256(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()
