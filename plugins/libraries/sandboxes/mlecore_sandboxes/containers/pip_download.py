"""Downloads packages with pip and runs none of their code. Runs in the image that is being built.

    python3 -I -c PROGRAM REQUIREMENTS [OPTION OF pip download ...]

Afterwards FETCHED has the packages and their dependencies, and a file named like REQUIREMENTS to install them from.

Even to download a source distribution, pip runs its code, which alone tells its dependencies. So pip may not start
programs here. When it tries to, the source distribution is kept, its name is printed, and the program exits with SDIST.
The backend builds the wheel in a container without passwords and calls again; then pip prefers the wheel.
"""

from __future__ import annotations  # Python 3.8

import hashlib
import os
import re
import runpy
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

FETCHED = Path("/packages/fetched")  # only this program and npm write here
BUILT = Path("/packages/built")  # code of packages writes here
SDISTS = FETCHED / "sdists"
SDIST = 75  # exit code
PLAIN = re.compile(r"[\w.+!-]+")  # others would become lines of requirements
SUFFIXES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
STARTS = {"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"}


def main(requirements: str, *options: str) -> None:
    lines = Path(requirements).read_text().splitlines()
    for wheel in BUILT.glob("*.whl"):
        if PLAIN.fullmatch(wheel.name) and wheel.is_file() and not wheel.is_symlink():
            shutil.copyfile(wheel, FETCHED / wheel.name)
            lines = accept(lines, FETCHED / wheel.name)
    listed = FETCHED / Path(requirements).name
    listed.write_text("".join(f"{line}\n" for line in lines))
    sys.addaudithook(start_nothing)
    sys.argv = ["pip", "download", "--no-input", "--dest", str(FETCHED), "--find-links", str(FETCHED), *options]
    sys.argv += ["-r", str(listed)]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


def accept(lines: list[str], wheel: Path) -> list[str]:
    """Requirements for which pip takes a wheel built here, where they name the source distribution."""
    name = canonical(wheel.name.split("-")[0])
    digest = f" --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}"
    hashed = {line for line in lines if "--hash" in line and canonical(re.split(r"[^\w.-]", line)[0]) == name}
    if hashed:
        return [*(line + digest if line in hashed else line for line in lines), f"--only-binary {name}"]
    if any(line.startswith("--no-binary") for line in lines):  # nor may pip take a wheel of the index
        constraints = wheel.with_suffix(".txt")
        constraints.write_text(f"{name} @ file://{wheel}\n")
        return [*lines, f"--constraint {constraints}"]
    return lines


def canonical(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


def start_nothing(event: str, args: Any) -> None:
    """An audit hook: keep the source distribution that pip is about to build, and end."""
    if event not in STARTS:
        return
    if event == "subprocess.Popen" and len(args[1]) == 1 and str(args[1][0]).startswith("/lib/ld-musl-"):
        return  # by which pip learns the version of musl
    for path in Path(tempfile.gettempdir()).glob("pip-*/*"):
        suffix = next((suffix for suffix in SUFFIXES if path.name.endswith(suffix)), None)
        if suffix and path.is_file():
            kept = f"{hashlib.sha256(path.read_bytes()).hexdigest()}{suffix}"
            SDISTS.mkdir(exist_ok=True)
            shutil.copyfile(path, SDISTS / kept)
            print(f"\n{path.name} is built first\n{kept}", flush=True)
            os._exit(SDIST)
    raise PermissionError("no program can be started here")


if __name__ == "__main__":
    main(*sys.argv[1:])
