"""Program that runs in a container of an image, by the image's own Python: prints what is installed there."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shutil
import subprocess


def main() -> None:
    print(f"{platform.python_implementation()} {platform.python_version()}")
    print(" ".join([platform.system(), platform.machine(), *platform.libc_ver()]).strip())
    found = {(each.metadata["Name"], each.version) for each in importlib.metadata.distributions()}
    print("\n".join(sorted(f"{name}=={version}" for name, version in found if name)))
    if npm := shutil.which("npm"):
        argv = [npm, "ls", "--global", "--depth=0", "--json"]
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        packages = json.loads(done.stdout or "{}").get("dependencies", {})
        print("\n".join(sorted(f"{name}@{each.get('version')}" for name, each in packages.items())))


if __name__ == "__main__":
    main()
