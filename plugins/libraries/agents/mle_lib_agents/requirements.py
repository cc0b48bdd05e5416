"""What the option pip of an agent asks to install."""

from __future__ import annotations

import re
from pathlib import Path

from mlecore.errors import UsageError


def packages(pip: str, agent: str) -> tuple[str, ...]:
    """Requirements from a list with commas (``pandas>=2,<3,numpy``) or from a file of one a line.

    Raises UsageError that names the agent.
    """
    if not pip.strip():
        return ()
    path = Path(pip).expanduser()
    if path.is_file():
        lines = [line.split(" #")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
        return tuple(_checked(line, f"{path}", agent) for line in lines if line and not line.startswith("#"))
    # A comma also stands inside a version range and inside the brackets of extras.
    parts = re.split(r",(?![^\[]*\])(?=\s*[A-Za-z])", pip)
    return tuple(_checked(part.strip(), "pip", agent) for part in parts if part.strip())


def _checked(text: str, where: str, agent: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        Requirement(text)
    except InvalidRequirement:
        raise UsageError(
            f"agent {agent}: {where}: {text!r} is neither a requirement nor a file that exists here",
            fix="Write pip=pandas,scikit-learn==1.9.1, or name a file with one such requirement a line (no options).",
        ) from None
    return text
