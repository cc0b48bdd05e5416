"""Names of files that Windows cannot hold: it writes ``a:b`` into a hidden stream of ``a``, and ``nul`` nowhere."""

from __future__ import annotations

import re
import sys

ELSEWHERE = "Prepare these data on Linux, on macOS or in WSL 2."

_UNUSABLE = re.compile(
    r"""[<>:"|?*\\\x00-\x1f]|[ .](/|$)|(^|/)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])[ ]*(\.[^/]*)?(/|$)""",
    re.IGNORECASE,
)


def can_be_held(path: str, system: str = sys.platform) -> bool:
    """Can a file have this relative path, with ``/``, on this operating system?"""
    return system != "win32" or not _UNUSABLE.search(path)
