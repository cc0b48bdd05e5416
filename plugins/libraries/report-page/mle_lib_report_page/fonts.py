"""The list of fonts that matplotlib needs before it draws anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mlecore.child_environment import child_environment


def list_fonts() -> None:
    """Have another process write matplotlib's list of fonts if it is missing.

    While matplotlib is imported it would run ``fc-list`` itself, with the keys of this process in its environment.
    """
    import matplotlib

    if not any(Path(matplotlib.get_cachedir()).glob("fontlist-*.json")):
        argv = [sys.executable, "-c", "import matplotlib.font_manager"]
        subprocess.run(argv, env=child_environment("MPLCONFIGDIR"), capture_output=True, check=False)
