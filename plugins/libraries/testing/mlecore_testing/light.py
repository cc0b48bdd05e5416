"""Rule: importing the plugin imports nothing heavy; hooks import it when they need it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from mlecore.child_environment import child_environment
from mlecore.registry.plugin import Plugin
from mlecore_testing.rules import Broken

HEAVY = ("sklearn", "scipy", "PIL", "polars", "pyarrow", "cv2", "torch", "tensorflow", "docker", "kubernetes", "kaggle")
_SCRIPT = """
import importlib, sys
before = set(sys.modules)
for name in sys.argv[1:]:
    importlib.import_module(name)
print(" ".join(sorted({name.partition(".")[0] for name in set(sys.modules) - before})))
"""


def light(plugin: Plugin) -> Iterator[Broken]:
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *(name for name, _ in plugin.modules)],
        env={**child_environment(), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        yield Broken(f"it cannot be imported:\n{done.stderr.strip()[-2000:]}", plugin.module)
    for name in HEAVY:
        if name in done.stdout.split():
            yield Broken(f"it imports {name}; import that inside the function that needs it", plugin.module)
