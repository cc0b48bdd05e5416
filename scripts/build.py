"""Builds the wheels and sdists of all packages: `make packages`, or `scripts/build.py --out DIR [--wheel] [NAME ...]`.

A package's folder holds what somebody wrote. What every published package also needs is added to a copy of it:

- the licence, authors and classifiers of the project, and a competition's page on Kaggle
- to a competition's README: a table of its facts, the commands, and its known issues
- to the links in the core's README: the address of the repository, because a package index cannot follow relative links
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from generate import ROOT, competitions, distribution, members, package, project

from mlecore.grading.medals import thresholds_for
from mlecore.model.facts import Facts
from mlecore.util.units import show_size


def main() -> int:
    """Build the packages named, or all; end as uv ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", help="distributions to build, e.g. mle-agent-dummy")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the files; default: dist")
    parser.add_argument("--wheel", action="store_true", help="build wheels only")
    options = parser.parse_args()
    uv = shutil.which("uv", path=str(ROOT / ".tools" / "bin")) or shutil.which("uv") or sys.exit("uv not found")
    with tempfile.TemporaryDirectory() as folder:
        stage(Path(folder))
        command = [uv, "build", "-q", "--offline", "--out-dir", str(options.out.absolute())]
        command += ["--wheel"] if options.wheel else []
        for which in [["--package", name] for name in options.names] or [["--all-packages"]]:
            if code := subprocess.run([*command, *which], cwd=folder, env=reproducible(), check=False).returncode:
                return code
    return 0


def reproducible() -> dict[str, str]:
    """This environment, with the time of the last commit as that of all files in an archive."""
    commit = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return {"SOURCE_DATE_EPOCH": commit.stdout.strip() or "0"} | os.environ


def stage(folder: Path) -> None:
    """Copy the workspace into ``folder``, and complete each of its packages."""
    ignore = shutil.ignore_patterns("__pycache__", ".*")
    for part in ("mlecore", "plugins"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignore)
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, folder / name)
    workspace = (folder / "pyproject.toml").read_text(encoding="utf-8")
    rewrite(
        folder / "pyproject.toml", re.sub(r'(?m)^exclude = \[\s*"plugins/[^]]*\]\n', "", workspace)
    )  # what is not locked is built, too
    rewrite(folder / "README.md", absolute_links((ROOT / "README.md").read_text(encoding="utf-8")))

    kaggle = {package(facts): facts.kaggle for facts in competitions()}
    for member in members():
        staged = folder / member.relative_to(ROOT)
        shutil.copy(ROOT / "LICENSE", staged)
        text = (member / "pyproject.toml").read_text(encoding="utf-8")
        rewrite(staged / "pyproject.toml", with_shared_facts(text, kaggle.get(member)))
    for facts in competitions():
        readme = folder / package(facts).relative_to(ROOT) / "README.md"
        rewrite(readme, f"{readme.read_text(encoding='utf-8').rstrip()}\n\n{competition_readme(facts)}\n")


def rewrite(path: Path, text: str) -> None:
    """Replace a staged file."""
    path.write_text(text, encoding="utf-8")


def with_shared_facts(pyproject: str, kaggle: str | None) -> str:
    """A package's pyproject.toml with the authors, classifiers and links of the whole project."""
    core = project(ROOT)
    authors = ", ".join(f"{{ name = {json.dumps(author['name'])} }}" for author in core["authors"])
    urls = core.get("urls", {}) | ({"Kaggle": f"https://www.kaggle.com/c/{kaggle}"} if kaggle else {})
    links = ", ".join(f"{name} = {json.dumps(url)}" for name, url in urls.items())
    classifiers = json.dumps(core["classifiers"])
    shared = f"authors = [{authors}]\nclassifiers = {classifiers}\nurls = {{ {links} }}\n"
    return pyproject.replace("[project]\n", f'[project]\nlicense-files = ["LICENSE"]\n{shared}', 1)


def absolute_links(readme: str) -> str:
    """A page whose links lead into the repository; as long as the project has none, plain text and no pictures."""
    repository = project(ROOT).get("urls", {}).get("Repository")
    if repository:
        readme = re.sub(r"!\[.+\]\(.+#gh-dark-mode-only\)\n", "", readme)  # an index would show both
        readme = re.sub(r"!\[(.+)\]\((?!\w+:)(.+)\)", rf"![\1]({repository}/raw/main/\2)", readme)
    else:
        readme = re.sub(r"(?m)^!\[.+\n(?:.+\n)*\n", "", readme)  # with their captions
    replaced = rf"[\1]({repository}/blob/main/\2)" if repository else r"\1"
    return re.sub(r"\[([^\]]+)\]\((?!\w+:)([^)]+)\)", replaced, readme)


def competition_readme(facts: Facts) -> str:
    """A table of facts, the commands, and the known issues."""
    url = f"https://www.kaggle.com/c/{facts.kaggle}" if facts.kaggle else None
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


if __name__ == "__main__":
    sys.exit(main())
