"""Parses the text of the option argv."""

from __future__ import annotations

import shlex

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
