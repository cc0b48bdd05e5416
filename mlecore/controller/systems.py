"""Operating systems on which agents run."""

from __future__ import annotations

import sys

from mlecore.errors import UsageError


def require_backends() -> None:
    """Raises UsageError on Windows, where no backend works."""
    if sys.platform == "win32":
        raise UsageError(
            "agents do not run on Windows: neither the backend vm nor any other works there",
            fix="Run agents in WSL 2. Preparing, checking, grading and reporting work on Windows itself.",
        )
