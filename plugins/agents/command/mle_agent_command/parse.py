"""Parses the text of the option argv."""

from __future__ import annotations

import re
import shlex

from mlecore.errors import UsageError

_QUOTED = re.compile(r"\\.|'[^']*'|" + r'"(?:\\.|[^"\\])*"', re.DOTALL)
_SHELL = re.compile(r"&&|\|\|?|[;&<>`]|\$[\w({]|^\s*(?:cd|export|source|\.|\w+=\S*)(?=\s|$)")


def words(argv: str) -> tuple[str, ...]:
    """A command line as a shell would split it; nothing is expanded. Raises UsageError for what only a shell can do."""
    try:
        parts = tuple(shlex.split(argv))
    except ValueError as error:  # "No closing quotation", "No escaped character"
        raise UsageError(
            f"agent command: argv={argv}: {str(error).lower()}",
            fix="Quote it as a whole for your shell: -A argv='python my_agent.py \"one argument\"'",
        ) from None
    if not parts or not parts[0]:
        raise UsageError("agent command: argv is empty", fix="Say what to start: -A argv='python my_agent.py'")
    if found := _SHELL.search(_QUOTED.sub("''", argv)):
        raise UsageError(
            f"agent command: argv is started without a shell, and {found[0].strip()!r} needs one",
            fix=f"Start one: {shlex.join(('sh', '-c', argv))} (with -A files=DIR, as the files it names are not seen), "
            "or quote that part.",
        )
    return parts
