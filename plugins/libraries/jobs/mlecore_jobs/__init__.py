"""What a sandboxed process needs, inside its sandbox and beside it.

This package lies below mlecore's model: of mlecore it imports errors and small tools only, and most of its modules
import nothing but the standard library. So a backend can send the whole package to a machine, or one file of it into
a container.
"""

from __future__ import annotations

from pathlib import Path

INSIDE = Path(__file__).parent / "inside"
"""The folder of the programs that run in the sandbox: ``init``, ``validate`` and ``validate_submission.sh``."""
