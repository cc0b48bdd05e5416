"""The submission that an agent left in its box, copied to this machine. Everything in the box is hostile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import GradingError
from mlecore.model.agents import HOME

if TYPE_CHECKING:
    import verifiers.v1 as vf

SUBMISSION = f"{HOME}/submission/submission.csv"
_KIND = f"""
f={SUBMISSION}
if [ -L "${{f%/*}}" ] || [ -L "$f" ]; then echo link
elif [ -d "$f" ]; then echo directory
elif [ -f "$f" ]; then echo file && wc -c <"$f"
elif [ -e "$f" ]; then echo other
else echo nothing
fi
"""
_LARGEST = 2**40  # bytes that a file without content may claim here; more would exceed what filesystems allow


async def collect(runtime: vf.Runtime, limit: int, folder: Path) -> Path | None:
    """Write to ``folder`` what lies at the submission's place, for the grader; None if nothing does.

    Where that is not a file of at most ``limit`` bytes, write something of the same kind and size without its content,
    which the grader rejects with the same words as in a run. Raises GradingError if the box does not answer, and what
    ``runtime`` raises.
    """
    from verifiers.v1 import SandboxError

    target = folder / "submission.csv"
    kind, size = await _look(runtime)
    if kind == "file" and size <= limit:
        try:
            target.write_bytes(await runtime.read(SUBMISSION, max_bytes=limit))
        except SandboxError:  # replaced or grown since then by a process that the agent left, or a failure
            kind, size = await _look(runtime)
            if kind == "file" and size <= limit:
                raise
        else:
            return target
    match kind:
        case "nothing":
            return None
        case "link":
            target.symlink_to("elsewhere")
        case "directory":
            target.mkdir()
        case "file":
            target.touch()
            os.truncate(target, min(size, _LARGEST))
        case _:
            os.mkfifo(target)
    return target


async def _look(runtime: vf.Runtime) -> tuple[str, int]:
    """What is there, and the size of a file in bytes."""
    done = await runtime.run(["sh", "-c", _KIND], {})
    kind, *size = done.stdout.split() or [""]
    if done.exit_code or kind not in ("file", "link", "directory", "other", "nothing"):
        raise GradingError(
            f"the box does not answer what lies at {SUBMISSION}: exit code {done.exit_code}, "
            f"{(done.stderr or done.stdout).strip()[:500] or 'no output'}"
        )
    return kind, int(size[0]) if size and size[0].isdecimal() else 0
