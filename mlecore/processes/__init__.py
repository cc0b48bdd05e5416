"""What a worker process needs of the operating system, on POSIX and on Windows.

``ALONE``: arguments of Popen, so that Ctrl-C is for the caller. ``Tree``: a process with all that it starts.
``readable``: is there output? Inside the worker: ``end_with_caller``, and ``limits`` of memory and time.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from mlecore.processes.windows import ALONE, Tree, end_with_caller, limits, readable
else:
    from mlecore.processes.posix import ALONE, Tree, end_with_caller, limits, readable

__all__ = ["ALONE", "Tree", "end_with_caller", "limits", "readable"]
