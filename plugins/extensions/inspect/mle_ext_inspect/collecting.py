"""What a sample leaves in its sandbox, as one archive on this machine: the submission first, then code and logs."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from mle_ext_inspect.upload import run
from mlecore.model.agents import HOME

if TYPE_CHECKING:
    from inspect_ai.util import SandboxEnvironment

SUBMISSION = "submission/submission.csv"
_MOST = 4 * 2**30  # bytes of the archive; what follows is cut off
_CHUNK = 32 * 2**20  # bytes; inspect reads at most 100 MiB of a file
_ARCHIVE = "/tmp/mlecore.tar"


async def collect(sandbox: SandboxEnvironment, target: Path) -> None:
    """Write the archive to the file ``target``. It is made inside the sandbox, so it is hostile."""
    script = (
        f"set -- submission code logs; cd {HOME} && "
        f'{{ [ ! -f {SUBMISSION} ] || set -- {SUBMISSION} --exclude={SUBMISSION} "$@"; }}; '
        f'{{ tar -cf - "$@" 2>/dev/null || :; }} | head -c {_MOST} >{_ARCHIVE}'
    )
    await run(sandbox, "sh", "-c", script)
    size = min(_MOST, int((await run(sandbox, "stat", "-c", "%s", _ARCHIVE)).strip() or 0))
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    with part.open("wb") as out:
        for number in range(-(-size // _CHUNK)):
            piece = f"{_ARCHIVE}.piece"
            await run(sandbox, "dd", f"if={_ARCHIVE}", f"of={piece}", f"bs={_CHUNK}", f"skip={number}", "count=1")
            out.write(await sandbox.read_file(piece, text=False))
    part.replace(target)


def unpack(archive: Path, folder: Path, only: str | None = None) -> list[str]:
    """Put its regular files (or ``only`` one) into an empty folder; "name: why" of what was left out, such as links."""
    left_out: list[str] = []
    left = _MOST  # bytes: sparse files take no room in an archive
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                parts = Path(member.name).parts
                if member.isdir() or only not in (None, member.name):
                    continue
                target = folder.joinpath(*parts)
                if not member.isreg() or not parts or ".." in parts or Path(member.name).is_absolute():
                    left_out.append(f"{member.name}: it is a link, or no regular file")
                elif member.size > left or target.exists():
                    left_out.append(f"{member.name}: it is too large, or there twice")
                elif (source := tar.extractfile(member)) is not None:
                    left -= member.size
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with target.open("wb") as out:
                        shutil.copyfileobj(source, out)
    except (tarfile.TarError, OSError, EOFError, ValueError, RecursionError) as error:
        left_out.append(f"the rest: the archive is damaged or cut off ({error})")
    return left_out
