"""Files into any sandbox of inspect, with what every sandbox can do: write a file, start a program."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspect_ai.util import SandboxEnvironment

_CHUNK = 32 * 2**20  # bytes: inspect holds what it writes in memory, several times
_PART = "/tmp/mlecore.part"


async def upload(sandbox: SandboxEnvironment, files: Mapping[str, bytes | Path]) -> None:
    """Absolute path in the sandbox -> content. Small files travel together, large ones in pieces.

    All are readable and executable for everyone and of the same time, so that names, order and dates tell nothing.
    Raises RuntimeError if the sandbox has no tar, or no room.
    """
    batch: dict[str, bytes] = {}
    for name, content in sorted(files.items()):
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        if size > _CHUNK:
            await _in_pieces(sandbox, name, content)
            continue
        if sum(map(len, batch.values())) + size > _CHUNK:
            await _together(sandbox, batch)
            batch = {}
        batch[name] = content if isinstance(content, bytes) else content.read_bytes()
    await _together(sandbox, batch)


def tree(folder: Path, target: str) -> dict[str, bytes | Path]:
    """Every regular file below a folder, for ``upload``."""
    return {f"{target}/{path.relative_to(folder).as_posix()}": path for path in folder.rglob("*") if path.is_file()}


async def run(sandbox: SandboxEnvironment, *argv: str) -> str:
    """What a program in the sandbox prints. Raises RuntimeError if it fails."""
    done = await sandbox.exec(list(argv), timeout=3600)
    if not done.success:
        raise RuntimeError(f"{' '.join(argv)[:200]} failed in the sandbox: {done.stderr.strip()[:500]}")
    return str(done.stdout)


async def _together(sandbox: SandboxEnvironment, batch: Mapping[str, bytes]) -> None:
    if not batch:
        return
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in batch.items():
            member = tarfile.TarInfo(name.lstrip("/"))
            member.size, member.mode = len(content), 0o755
            tar.addfile(member, io.BytesIO(content))
    await sandbox.write_file(_PART, packed.getvalue())
    await run(sandbox, "tar", "-xf", _PART, "-C", "/")
    await run(sandbox, "rm", _PART)


async def _in_pieces(sandbox: SandboxEnvironment, name: str, content: bytes | Path) -> None:
    await run(sandbox, "sh", "-c", 'mkdir -p "$(dirname "$1")" && : >"$1"', "sh", name)
    for piece in _pieces(content):
        await sandbox.write_file(_PART, piece)
        await run(sandbox, "sh", "-c", f'cat {_PART} >>"$1" && rm {_PART}', "sh", name)


def _pieces(content: bytes | Path) -> Iterator[bytes]:
    with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as source:
        while piece := source.read(_CHUNK):
            yield piece
