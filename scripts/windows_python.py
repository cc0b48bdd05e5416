"""Install what mlecore needs, in the locked versions, into a Python for Windows, so that tests can run it in Wine.

    .venv/bin/python scripts/windows_python.py FOLDER [REQUIREMENT ...]

FOLDER has the python.exe of Python 3.12 (an unpacked embeddable or full distribution). A REQUIREMENT, such as
numpy==2.0.2 for Wine 8, is taken instead of the locked version.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from mlecore.child_environment import PIP, PROXIES, child_environment

ROOT = Path(__file__).parent.parent
PACKAGES = (".", "plugins/libraries/pages", "plugins/libraries/gateway", "plugins/extensions/view")
FURTHER = ("msvc-runtime", "pillow", "py7zr", "scikit-learn")


def main() -> int:
    """End as uv ends."""
    if len(sys.argv) < 2 or not Path(sys.argv[1], "python.exe").is_file():
        sys.exit(__doc__)
    folder, instead = Path(sys.argv[1]), sys.argv[2:]
    library = next(each for each in folder.iterdir() if each.name.lower() == "lib")
    locked = re.findall(r"^[a-z0-9._-]+==[^\\\n]+", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.M)
    names = {re.split(r"[<>=!~]", line)[0] for line in instead}
    locked = [line for line in locked if line.partition("==")[0] not in names]
    with tempfile.TemporaryDirectory() as scratch:
        wanted, constraints = Path(scratch, "wanted"), Path(scratch, "constraints")
        wanted.write_text("\n".join([*requirements(), *instead]), encoding="utf-8")
        constraints.write_text("\n".join(locked), encoding="utf-8")
        command = [str(ROOT / ".tools" / "bin" / "uv"), "pip", "install", "-q", "--only-binary", ":all:"]
        command += ["--python-platform", "x86_64-pc-windows-msvc", "--python-version", "3.12"]
        command += ["--target", str(library / "site-packages"), "-r", str(wanted), "-c", str(constraints)]
        return subprocess.run(command, env=child_environment(*PROXIES, *PIP), check=False).returncode


def requirements() -> list[str]:
    """Of the packages that the tests use, without each other."""
    found = list(FURTHER)
    for package in PACKAGES:
        project = tomllib.loads((ROOT / package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        found += [line for line in project["dependencies"] if not line.startswith("mle")]
    return found


if __name__ == "__main__":
    sys.exit(main())
