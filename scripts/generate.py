"""Writes what repeats facts that stand elsewhere: `make generate` runs it. `make test` fails if its output is old.

- `pyproject.toml`: the extras `lite`, `medium`, `high`, `mle-bench-30` and `all`, and the workspace's members
- `mlecore/plugins/published.txt`: every plugin and command, and the package that it comes with

In `pyproject.toml` only the block between the two marks changes; the rest is written by hand.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mlecore.model.facts import Facts, read_facts
from mlecore.plugins.entry_points import GROUPS
from mlecore.plugins.splits import benchmark

ROOT = Path(__file__).parent.parent
PREFIXES = {
    "competitions": "mle-comp-",
    "agents": "mle-agent-",
    "backends": "mle-backend-",
    "detectors": "mle-detector-",
    "extensions": "mle-ext-",
}
SPLITS = {"low": "Low (MLE-bench Lite)", "medium": "Medium", "high": "High", "dev": "Development", None: "Practice"}
EXTRAS = ("lite", "medium", "high", "mle-bench-30")
MARKS = ("# from here on written by `make generate`", "# up to here")


def main() -> int:
    """Write what is out of date; with --check only name it, and end with 1 where there is any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    old = outdated()
    for path, text in old.items():
        print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.write_text(text, encoding="utf-8")
    return int(check and bool(old))


def outdated() -> dict[Path, str]:
    """What each file that is out of date should hold."""
    return {path: text for path, text in generated() if not path.is_file() or path.read_text(encoding="utf-8") != text}


def generated() -> Iterator[tuple[Path, str]]:
    """Every file and what it should hold."""
    yield ROOT / "pyproject.toml", with_block(ROOT / "pyproject.toml", extras_and_members())
    yield ROOT / "mlecore" / "plugins" / "published.txt", published()


def with_block(path: Path, block: str) -> str:
    """The file with ``block`` between the marks."""
    begin, end = MARKS
    before, begun, rest = path.read_text(encoding="utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not (begun and ended):
        raise SystemExit(f"{path}: expected the lines {begin!r} and {end!r}")
    return f"{before}{begin}\n{block.strip()}\n{end}{after}"


@cache
def members() -> list[Path]:
    """The folders of all plugin packages."""
    return sorted(path.parent for path in ROOT.glob("plugins/*/*/pyproject.toml"))


@cache
def competitions() -> list[Facts]:
    """The facts of all competitions, by id."""
    return sorted((read_facts(path.parent) for path in ROOT.glob("plugins/competitions/*/*/competition.toml")), key=_id)


def _id(facts: Facts) -> str:
    return facts.id


def package(facts: Facts) -> Path:
    """The folder of a competition's package."""
    return facts.folder.parent


@cache
def project(folder: Path) -> dict[str, Any]:
    """The [project] table of a package."""
    table: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def distribution(folder: Path) -> str:
    """Such as "mle-agent-dummy". Stops where pyproject.toml gives another name than the folder."""
    name: str = project(folder)["name"]
    if folder.parent.name == "libraries":  # which are no plugins, and choose their names
        return name
    expected = PREFIXES[folder.parent.name] + re.sub(r"[-_.]+", "-", folder.name).lower()
    if name != expected:
        raise SystemExit(f"{folder / 'pyproject.toml'}: a package in this folder is called {expected}")
    return name


def extras_and_members() -> str:
    """The extras that name competitions, and where the workspace finds its members."""
    of = {extra: {*benchmark()[extra]} for extra in EXTRAS}
    extras = {
        extra: [distribution(package(f)) for f in competitions() if {f.id, f.split} & of[extra]] for extra in EXTRAS
    }
    extras["all"] = [
        "mlecore[lite,medium,high]",
        *(distribution(package(f)) for split in ("dev", None) for f in competitions() if f.split == split),
    ]
    lists = [
        f"{extra} = [\n" + "".join(f"    {json.dumps(name)},\n" for name in extras[extra]) + "]" for extra in extras
    ]
    sources = [f"{name} = {{ workspace = true }}" for name in ["mlecore", *map(distribution, members())]]
    return "\n".join([*lists, "", "[tool.uv.sources]", *sources])


def published() -> str:
    """Lines of kind, name and package."""
    return "".join(
        f"{GROUPS[group]} {name} {distribution(folder)}\n"
        for folder in members()
        for group, points in project(folder).get("entry-points", {}).items()
        if group in GROUPS
        for name in points
    )


if __name__ == "__main__":
    sys.exit(main())
