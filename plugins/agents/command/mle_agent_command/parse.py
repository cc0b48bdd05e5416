"""The texts of the options argv and pip, taken apart."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from mlecore.errors import UsageError


def words(argv: str) -> tuple[str, ...]:
    """A command line as a shell would split it; nothing is expanded."""
    try:
        parts = tuple(shlex.split(argv))
    except ValueError as error:  # "No closing quotation", "No escaped character"
        raise UsageError(
            f"agent command: argv={argv}: {str(error).lower()}",
            fix="Quote it as a whole for your shell: -A argv='python my_agent.py \"one argument\"'",
        ) from None
    if not parts or not parts[0]:
        raise UsageError("agent command: argv is empty", fix="Say what to start: -A argv='python my_agent.py'")
    return parts


def packages(pip: str) -> tuple[str, ...]:
    """Requirements from a list with commas (``pandas>=2,<3,numpy``) or from a file of one a line."""
    if not pip.strip():
        return ()
    path = Path(pip).expanduser()
    if path.is_file():
        lines = [line.split(" #")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
        return tuple(_checked(line, f"{path}") for line in lines if line and not line.startswith("#"))
    # A comma also stands inside a version range and inside the brackets of extras.
    parts = re.split(r",(?![^\[]*\])(?=\s*[A-Za-z])", pip)
    return tuple(_checked(part.strip(), "pip") for part in parts if part.strip())


def _checked(text: str, where: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        Requirement(text)
    except InvalidRequirement:
        raise UsageError(
            f"agent command: {where}: {text!r} is neither a requirement nor a file that exists here",
            fix="Write pip=pandas,scikit-learn==1.9.1, or name a file with one such requirement a line (no options).",
        ) from None
    return text
