"""Prints the competitions whose full conformance kit CI runs: `kits.py`, or `kits.py --all` for every one.

They are eight fixed ones, and those whose package, or a library that it needs, changed within a day before the commit:
the nightly workflow runs all. The same commit always has the same kits. A package's tests do not count as a change.
"""

from __future__ import annotations

import re
import subprocess
import sys

from generate import ROOT, distribution, members, project

# Text, sound, masks, boxes, real data; many notebooks, images and rows, which `make test` leaves out.
FIXED = {
    "spooky-author-identification",
    "freesound-audio-tagging-2019",
    "tgs-salt-identification-challenge",
    "3d-object-detection-for-autonomous-vehicles",
    "optical-digits",
    "AI4Code",
    "alaska2-image-steganalysis",
    "tabular-playground-series-may-2022",
}


def main() -> None:
    """Print the path of each kit, as pytest takes it."""
    paths = changed_paths()
    changed = {distribution(member) for member in members() if any(path.startswith(f"{member}/") for path in paths)}
    for member in members():
        needs = {distribution(member), *(re.split(r"[^\w-]", name)[0] for name in project(member)["dependencies"])}
        if member.parent.name == "competitions" and ("--all" in sys.argv or member.name in FIXED or needs & changed):
            print(*member.glob("*/competition.toml"))


def changed_paths() -> set[str]:
    """The files that changed within a day before the commit that is checked out."""
    since = int(_git("log", "-1", "--format=%ct")) - 24 * 3600
    names = _git("log", f"--since={since}", "--name-only", "--format=").split("\n")
    return {str(ROOT / name) for name in names if "/tests/test_" not in name}


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
