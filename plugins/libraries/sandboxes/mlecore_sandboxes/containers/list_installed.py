"""Program that runs in a container of an image, by the image's own Python: prints what is installed there."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Iterator
from pathlib import Path


def python_packages() -> Iterator[str]:
    for each in importlib.metadata.distributions():
        if name := each.metadata["Name"]:
            yield f"{name}=={each.version}"


def npm_packages() -> Iterator[str]:
    """Those installed globally, as Debian's npm and Node.js' own images do."""
    for root in (Path("/usr/local/lib/node_modules"), Path("/usr/lib/node_modules")):
        for path in (*root.glob("[!@]*/package.json"), *root.glob("@*/*/package.json")):
            package = json.loads(path.read_text(encoding="utf-8"))
            yield f"{package.get('name')}@{package.get('version')}"


def main() -> None:
    print(f"{platform.python_implementation()} {platform.python_version()}")
    print(" ".join([platform.system(), platform.machine(), *platform.libc_ver()]).strip())
    print("\n".join([*sorted(set(python_packages())), *sorted(set(npm_packages()))]))


if __name__ == "__main__":
    main()
