"""Writes what repeats facts that stand elsewhere. `make generate` runs it, and a test fails where its output is old.

- `pyproject.toml`: the extras `lite`, `medium`, `high` and `all`, and the workspace's members
- `mlecore/registry/published.txt`: every plugin and command, and the package that it comes with
- `docs/competitions.md`: all competitions, from their `competition.toml`
- `docs/known-issues.md`: what is known to be wrong with them, from the same
- `docs/editions.md`: what v2 changes, and how each test part relates to Kaggle's, from the same

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

from mlecore.facts import Facts, KnownIssue, read_facts
from mlecore.grading.medals import thresholds_for
from mlecore.registry.entry_points import GROUPS
from mlecore.units import show_size

ROOT = Path(__file__).parent.parent
PREFIXES = {
    "competitions": "mle-comp-",
    "agents": "mle-agent-",
    "backends": "mle-backend-",
    "detectors": "mle-detector-",
    "extensions": "mle-ext-",
}
SPLITS = {"low": "Low (MLE-bench Lite)", "medium": "Medium", "high": "High", "dev": "Development", None: "Practice"}
EXTRAS = {"lite": "low", "medium": "medium", "high": "high"}
MARKS = ("# from here on written by `make generate`", "# up to here")
PAGE_MARKS = ("<!-- begin generated -->", "<!-- end generated -->")


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
    yield ROOT / "mlecore" / "registry" / "published.txt", published()
    yield ROOT / "docs" / "competitions.md", competitions_page()
    yield ROOT / "docs" / "known-issues.md", known_issues_page()
    yield ROOT / "docs" / "editions.md", with_block(ROOT / "docs" / "editions.md", editions_tables(), PAGE_MARKS)


def with_block(path: Path, block: str, marks: tuple[str, str] = MARKS) -> str:
    """The file with ``block`` between the marks."""
    begin, end = marks
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
    of = {split: [distribution(package(f)) for f in competitions() if f.split == split] for split in SPLITS}
    extras = {extra: of[split] for extra, split in EXTRAS.items() if of[split]}
    extras["all"] = [f"mlecore[{','.join(extras)}]", *of["dev"], *of[None]]
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


def competitions_page() -> str:
    """docs/competitions.md."""
    parts = [
        "# Competitions\n\n"
        "The medal columns are the scores on the human leaderboard at which gold, silver and bronze begin; ↑ higher is "
        "better, ↓ lower is better. [known-issues.md](known-issues.md) lists known flaws. (Generated from each "
        "package's `competition.toml` by `make generate`.)\n"
    ]
    for split, title in SPLITS.items():
        rows = [row(facts) for facts in competitions() if facts.split == split]
        if rows:
            parts.append(
                f"## {title}: {len(rows)}\n\n| competition | modality | task | metric | medals | size | |\n"
                "|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
            )
    return "\n".join(parts)


def known_issues_page() -> str:
    """docs/known-issues.md."""
    known = [facts for facts in competitions() if facts.known_issues]
    count = sum(len(facts.known_issues) for facts in known)
    parts = [
        "# Known issues\n\n"
        "Edition v1 is the benchmark as published, flaws included, so that scores compare with the public leaderboard. "
        f"These are its {count} known flaws, in {len(known)} of {len(competitions())} competitions: what is wrong, how "
        "it affects scores, and what a repaired edition should change, or the edition in which it is repaired "
        "([editions.md](editions.md)). The last cell is empty if nothing needs to be changed. "
        "(Generated from `[[known_issues]]` of each package's `competition.toml` by `make generate`.)\n"
    ]
    for split, title in SPLITS.items():
        some = [facts for facts in known if facts.split == split]
        for first, facts in enumerate(some):
            heading = f"## {title}\n\n" if first == 0 else ""
            rows = (f"| {issue.what} | {issue.effect} | {_repair(issue)} |" for issue in facts.known_issues)
            parts.append(
                f"{heading}### [{facts.id}](../plugins/competitions/{package(facts).name}/)\n\n"
                "| issue | effect on scores | repair |\n|---|---|---|\n" + "\n".join(rows) + "\n"
            )
    if none := [facts.id for facts in competitions() if not facts.known_issues]:
        parts.append(f"## None known\n\n{', '.join(none)}\n")
    return "\n".join(parts)


def editions_tables() -> str:
    """What edition v2 changes in each competition, and how each test part relates to Kaggle's."""
    found = [facts for facts in competitions() if "v2" in facts.editions]
    rows = [f"| {facts.id} | `{facts.editions['v2'].thresholds}` | {facts.editions['v2'].changes} |" for facts in found]
    without = ", ".join(facts.id for facts in competitions() if "v2" not in facts.editions)
    note = f"\n\nNo edition v2 yet: {without}." if without else ""
    changes = "| competition | `thresholds` | what v2 changes |\n|---|---|---|\n" + "\n".join(rows) + note
    return f"{changes}\n\n{test_parts()}"


def test_parts() -> str:
    """Each competition's test part: v2's if there is one."""
    newest = (facts.in_edition("v2") if "v2" in facts.editions else facts for facts in competitions())
    rows = [f"| {facts.id} | {facts.test_part} |" for facts in newest if facts.test_part]
    return (
        "## How each test part relates to Kaggle's\n\n"
        "Kaggle never published the labels of most of its private test parts, so nearly all test parts here come from "
        "its training data: the human leaderboard was ranked on other rows. Where the split of v2 differs, the line is "
        "v2's; `mlecore competitions show ID` shows that of v1.\n\n"
        "| competition | test part |\n|---|---|\n" + "\n".join(rows)
    )


def _repair(issue: KnownIssue) -> str:
    return f"**{issue.mended}**: {issue.fix or 'repaired'}" if issue.mended else issue.fix or ""


def row(facts: Facts) -> str:
    """One line of the page's table."""
    thresholds = thresholds_for(facts)
    medals = "none" if thresholds is None else f"{thresholds.gold:g} / {thresholds.silver:g} / {thresholds.bronze:g}"
    size = "" if facts.size_gb is None else show_size(facts.size_gb * 1e9)
    better = "↓" if facts.lower_is_better else "↑"
    link = f"[{facts.id}](../plugins/competitions/{package(facts).name}/)"
    leak = "leak" if facts.leaks else ""
    return f"| {link} | {facts.modality} | {facts.task} | {facts.metric} {better} | {medals} | {size} | {leak} |"


if __name__ == "__main__":
    sys.exit(main())
