"""Is the tree there that agents are promised, and can I write where I should not?"""

from __future__ import annotations

import os
from pathlib import Path

from finding import finding

NAME = ".mlecore-probe"
SYSTEM = (
    "/",
    "/etc",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local/bin",
    "/bin",
    "/lib",
    "/opt",
    "/var",
    "/root",
    "/boot",
)


def look(home: Path, opt: Path) -> list[dict[str, object]]:
    return [layout(home, opt), own(home), data(home), tools(opt), system(home)]


def layout(home: Path, opt: Path) -> dict[str, object]:
    wanted = [home / "data" / "description.md", home / "instructions.txt", opt / "sample.csv", opt / "validate"]
    missing = [str(path) for path in wanted if not os.access(str(path), os.R_OK)]
    return finding("layout", missing, "not readable: ")


def own(home: Path) -> dict[str, object]:
    closed = [name for name in ("submission", "code", "logs") if not creates(home / name)]
    return finding("own_folders", closed, "not writable: ")


def data(home: Path) -> dict[str, object]:
    """The public data: neither new files nor changes to those there, nor leave to change that."""
    folder = home / "data"
    written = [str(folder)] if creates(folder) else []
    for place, _, files in os.walk(str(folder)):
        written += [str(Path(place, name)) for name in files[:20] if opens(Path(place, name))]
        if place != str(folder) and creates(Path(place)):
            written.append(place)
        if len(written) > 20 or place.count(os.sep) > str(folder).count(os.sep) + 2:
            break
    return finding("write_data", written, "could write to: ")


def tools(opt: Path) -> dict[str, object]:
    """init, validate and the sample."""
    written = [str(opt)] if creates(opt) else []
    if os.access(opt, os.R_OK | os.X_OK):
        written += [str(path) for path in sorted(opt.iterdir()) if opens(path)]
    return finding("write_tools", written, "could write to: ")


def system(home: Path) -> dict[str, object]:
    places = [Path(name) for name in SYSTEM if Path(name) != home]
    written = sorted({str(place.resolve()) for place in places if creates(place)})
    written += [
        name for name in ("/etc/passwd", "/etc/hosts", "/etc/resolv.conf", "/etc/ld.so.preload") if opens(Path(name))
    ]
    return finding("write_system", written, "could write to: ")


def creates(folder: Path) -> bool:
    """Can a file be made here? It is removed again."""
    path = folder / NAME
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        path.unlink()
    except OSError:
        return False
    return True


def opens(path: Path) -> bool:
    """Can this file be opened for writing? Nothing is written."""
    try:
        os.close(os.open(str(path), os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK))
    except OSError:
        return False
    return True
