"""Rule: importing the plugin imports nothing heavy; hooks import it when they need it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from mlecore.model.plugin import Plugin
from mlecore.util.child_environment import child_environment
from mlecore_testing.rules import Broken

HEAVY = ("sklearn", "scipy", "PIL", "polars", "pyarrow", "cv2", "torch", "tensorflow", "docker", "kubernetes", "kaggle")
_SCRIPT = """
import contextlib, importlib, sys
for name in sys.argv[1:]:
    before = set(sys.modules)
    with contextlib.redirect_stdout(sys.stderr):
        importlib.import_module(name)
    print(name, *{each.partition(".")[0] for each in set(sys.modules) - before}, flush=True)
"""


def light(*plugins: Plugin) -> Iterator[Broken]:
    """Import the plugins in one process: each heavy import is reported for the module that comes first with it."""
    names = [name for plugin in plugins for name in plugin.modules()]
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *names],
        env={**child_environment(), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    imported = [line.split() for line in done.stdout.splitlines()]
    if done.returncode:
        yield Broken(f"it cannot be imported:\n{done.stderr.strip()[-2000:]}", names[len(imported)])
    for module, *found in imported:
        for name in HEAVY:
            if name in found:
                yield Broken(f"it imports {name}; import that inside the function that needs it", module)
