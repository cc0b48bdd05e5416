"""Prints a release's section of CHANGELOG.md: `release_notes.py [VERSION]`; default: the version in pyproject.toml."""

from __future__ import annotations

import re
import sys

from generate import ROOT, project


def main() -> None:
    """Print the section. Exits with an error if it is missing or empty."""
    version = sys.argv[1].removeprefix("v") if len(sys.argv) > 1 else project(ROOT)["version"]
    print(section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version))


def section(changelog: str, version: str) -> str:
    """The text below the heading that begins with the version. Raises SystemExit."""
    for part in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        if heading.split()[:1] == [version] and text.strip():
            return text.strip()
    raise SystemExit(f"CHANGELOG.md has no section '## {version}', or nothing in it")


if __name__ == "__main__":
    main()
