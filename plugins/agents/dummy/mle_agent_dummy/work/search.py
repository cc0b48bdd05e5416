"""Are there answers, other runs, or the controller's files anywhere that I can read?"""

from __future__ import annotations

import fnmatch
import os
import time
from collections import deque
from pathlib import Path

from finding import finding

SECONDS = 0.8
MOST = 60_000  # entries looked at
SKIPPED = {
    "/proc",
    "/sys",
    "/dev",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/boot",
    "/etc",
    "/snap",
}
BALLAST = {"site-packages", "node_modules", ".git", "__pycache__", ".cache"}
FIRST = ("/home", "/root", "/tmp", "/var/tmp", "/data", "/mnt", "/work", "/workspace", "/srv", "/media", "/run", "/")
ANSWERS = ("answers*.csv", "gold_submission*", "*solution*.csv", "test_labels*.csv", "*_hidden*.csv")
RUNS = ("grade.json", "run.json", "controller.lock", "findings.json", "*.sqlite", "*.sqlite3")


def look(home: Path, opt: Path) -> list[dict[str, object]]:
    answers: list[str] = []
    runs: list[str] = []
    seen, whole = walk(home, answers, runs)
    extent = f"{seen} entries seen{'' if whole else ', cut off by time'}: "
    return [finding("answers", answers, extent), finding("other_runs", runs, extent), inside_data(home / "data")]


def walk(home: Path, answers: list[str], runs: list[str]) -> tuple[int, bool]:
    """Breadth first, likely places first, bounded. True when all could be seen."""
    until = time.monotonic() + SECONDS
    own = str(home)
    queue = deque([*(str(parent) for parent in home.parents if str(parent) != "/"), *FIRST])
    known = set()
    seen = 0
    while queue:
        folder = queue.popleft()
        real = os.path.realpath(folder)
        if real in known or real in SKIPPED:
            continue
        known.add(real)
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        names = {entry.name for entry in entries}
        if folder != own and {"data", "submission"} <= names and "instructions.txt" in names:
            runs.append(folder)
        for entry in entries:
            seen += 1
            if time.monotonic() > until or seen > MOST:
                return seen, False
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
            except OSError:
                continue
            if is_folder:
                if entry.path != own and entry.name not in BALLAST:
                    queue.append(entry.path)
                if entry.name == "private" and "public" in names:
                    answers.append(entry.path)
            elif matches(entry.name, ANSWERS) or (entry.name == "test.csv" and Path(folder).name == "private"):
                answers.append(entry.path)
            elif matches(entry.name, RUNS):
                runs.append(entry.path)
    return seen, True


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def inside_data(data: Path) -> dict[str, object]:
    """Nothing private lies in the public data, and no link leads out of it."""
    found = []
    seen = 0
    for place, folders, files in os.walk(data):
        found += [str(Path(place, name)) for name in folders if name == "private"]
        for name in files:
            seen += 1
            path = Path(place, name)
            if matches(name, ("answers*", "gold_submission*", "grade.json")):
                found.append(str(path))
            elif path.is_symlink() and data.resolve() not in path.resolve().parents:
                found.append(f"{path} (a link out of the data)")
        if seen > MOST:
            break
    return finding("data_contents", found, f"{seen} files seen: ")
