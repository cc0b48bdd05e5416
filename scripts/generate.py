"""Writes what repeats facts that stand elsewhere; `make generate` runs it, and a test fails where its output is old.

- `plugins/*/*/pyproject.toml`: the part that all packages share, from the root's `pyproject.toml`
- `plugins/*/*/LICENSE`: a copy, because a wheel takes no file from outside its package
- `plugins/competitions/*/README.md`: the table, the commands and the known issues, from `competition.toml`
- `pyproject.toml`: the extras `lite`, `medium`, `high` and `all`, and the workspace's members
- `docs/competitions.md`: all competitions, from their `competition.toml`
- `docs/known-issues.md`: what is known to be wrong with them, from the same
- `docs/index.md`: README.md as a package index can show it, without links into a checkout

In files that are partly written by hand only the block between the two marks changes. A file without marks gets the
block at its end.
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

from mlecore.facts import Facts, read_facts
from mlecore.grading.medals import thresholds_for
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
TOML_MARKS = ("# from here on written by `make generate`", "# up to here")
PAGE_MARKS = ("<!-- from here on written by `make generate` -->", "<!-- up to here -->")


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
    for folder in members():
        yield folder / "pyproject.toml", pyproject(folder)
        yield folder / "LICENSE", (ROOT / "LICENSE").read_text(encoding="utf-8")
    for facts in competitions():
        path = package(facts) / "README.md"
        yield path, with_block(path, readme(facts), PAGE_MARKS)
    yield ROOT / "pyproject.toml", with_block(ROOT / "pyproject.toml", extras_and_members(), TOML_MARKS)
    yield ROOT / "docs" / "competitions.md", competitions_page()
    yield ROOT / "docs" / "known-issues.md", known_issues_page()
    yield ROOT / "docs" / "index.md", index_page()


def with_block(path: Path, block: str, marks: tuple[str, str]) -> str:
    """The file with ``block`` between the marks, or at its end where it has none."""
    text = path.read_text(encoding="utf-8")
    begin, end = marks
    before, found, rest = text.partition(begin)
    if not found:
        return f"{text.rstrip()}\n\n{begin}\n{block.strip()}\n{end}\n"
    _, closed, after = rest.partition(end)
    if not closed:
        raise SystemExit(f"{path}: the line {begin!r} is there, and {end!r} is missing")
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


def pyproject(folder: Path) -> str:
    """A package's pyproject.toml: name, version, description and dependencies are its own, the rest is shared."""
    core = project(ROOT)
    name, module = plugin_name(folder), distribution(folder).replace("-", "_")
    authors = ", ".join(f"{{ name = {json.dumps(author['name'])} }}" for author in core["authors"])
    lines = [
        'readme = "README.md"',
        *(f"{key} = {json.dumps(core[key])}" for key in ("license", "license-files", "requires-python", "classifiers")),
        f"authors = [{authors}]",
    ]
    if urls := core.get("urls", {}) | kaggle_url(folder):
        lines += ["", "[project.urls]", *(f"{title} = {json.dumps(url)}" for title, url in urls.items())]
    if folder.parent.name != "libraries":
        lines += ["", f'[project.entry-points."mlecore.{folder.parent.name}"]', f'"{name}" = "{module}"']
    lines += ["", "[build-system]", 'requires = ["uv_build>=0.8,<1"]', 'build-backend = "uv_build"']
    lines += ["", "[tool.uv.build-backend]", 'module-root = ""', f'module-name = "{module}"']
    return with_block(folder / "pyproject.toml", "\n".join(lines), TOML_MARKS)


def plugin_name(folder: Path) -> str:
    """What users type: a competition's id as Kaggle spells it, else the folder's name."""
    return next((facts.id for facts in competitions() if package(facts) == folder), folder.name)


def kaggle_url(folder: Path) -> dict[str, str]:
    """The competition's page on Kaggle, for a package whose competition has one."""
    slug = next((facts.kaggle for facts in competitions() if package(facts) == folder), None)
    return {"Kaggle": f"https://www.kaggle.com/c/{slug}"} if slug else {}


def readme(facts: Facts) -> str:
    """The facts and the commands in a competition's README."""
    url = kaggle_url(package(facts)).get("Kaggle")
    thresholds = thresholds_for(facts)
    rows = {
        "competition": f"[{facts.title}]({url})" if url else facts.title,
        "task": f"{facts.modality}, {facts.task}",
        "metric": f"{facts.metric}, {'lower' if facts.lower_is_better else 'higher'} is better",
        "split": facts.split or "none",
        "data": data(facts),
        "medals": "none: there is no human leaderboard"
        if thresholds is None
        else f"gold {thresholds.gold:g}, silver {thresholds.silver:g}, bronze {thresholds.bronze:g}; "
        f"median {thresholds.median:g}",
    }
    table = "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())])
    synthetic = "  # add --synthetic for data without an account" if facts.kaggle else ""
    commands = (
        f"pip install {distribution(package(facts))}\n"
        f"mlecore prepare {facts.id}{synthetic}\n"
        f"mlecore grade submission.csv {facts.id}"
    )
    parts = [table, f"```\n{commands}\n```"]
    if facts.closed is not None:
        parts.append(f"{facts.closed[:1].upper()}{facts.closed[1:]}.")
    if facts.known_issues:
        parts.append("Known issues of edition v1, which are kept so that scores compare with those published:")
        parts.append("\n".join(f"- {issue.what} {issue.effect}" for issue in facts.known_issues))
    return "\n\n".join(parts)


def data(facts: Facts) -> str:
    """Where the data come from."""
    if facts.kaggle is None:
        return "comes with the package or from its own source; no Kaggle account"
    size = f"{show_size(facts.size_gb * 1e9)} " if facts.size_gb is not None else ""
    if facts.closed is not None:
        return f"{size}from Kaggle, where nobody new can join"
    return f"{size}from Kaggle, once you have accepted its rules there"


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


def competitions_page() -> str:
    """docs/competitions.md."""
    parts = [
        "# Competitions\n\n"
        "Written by `make generate` from each package's `competition.toml`. The medals are the scores of the human "
        "leaderboard at which gold, silver and bronze begin; ↑ higher is better, ↓ lower. "
        "[known-issues.md](known-issues.md) says what is wrong with them.\n"
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
        "Written by `make generate` from each package's `competition.toml` (`[[known_issues]]`). Edition v1 is the "
        "benchmark as published, flaws included, so that scores compare with the public leaderboard. These are the "
        f"{count} flaws that are known, of {len(known)} of {len(competitions())} competitions: what is wrong, what it "
        "does to scores, and what a fixed edition should change. An empty last cell means that nothing can or need be "
        "changed.\n"
    ]
    for split, title in SPLITS.items():
        some = [facts for facts in known if facts.split == split]
        for first, facts in enumerate(some):
            heading = f"## {title}\n\n" if first == 0 else ""
            rows = (f"| {issue.what} | {issue.effect} | {issue.fix or ''} |" for issue in facts.known_issues)
            parts.append(
                f"{heading}### [{facts.id}](../plugins/competitions/{package(facts).name}/)\n\n"
                "| what is wrong | what it does to scores | a fixed edition |\n|---|---|---|\n" + "\n".join(rows) + "\n"
            )
    if none := [facts.id for facts in competitions() if not facts.known_issues]:
        parts.append(f"## None known\n\n{', '.join(none)}\n")
    return "\n".join(parts)


def row(facts: Facts) -> str:
    """One line of the page's table."""
    thresholds = thresholds_for(facts)
    medals = "none" if thresholds is None else f"{thresholds.gold:g} / {thresholds.silver:g} / {thresholds.bronze:g}"
    size = "" if facts.size_gb is None else show_size(facts.size_gb * 1e9)
    better = "↓" if facts.lower_is_better else "↑"
    link = f"[{facts.id}](../plugins/competitions/{package(facts).name}/)"
    leak = "leak" if facts.leaks else ""
    return f"| {link} | {facts.modality} | {facts.task} | {facts.metric} {better} | {medals} | {size} | {leak} |"


def index_page() -> str:
    """README.md for a package index: links lead into the repository's pages, or are plain text while it has none."""
    repository = project(ROOT).get("urls", {}).get("Repository")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    replaced = rf"[\1]({repository}/blob/main/\2)" if repository else r"\1"
    return re.sub(r"\[([^\]]+)\]\((?!\w+:)([^)]+)\)", replaced, readme)


if __name__ == "__main__":
    sys.exit(main())
