"""What a report of two big groups costs, and whether it is right: 75 competitions x 3 seeds each, compared.

    python benchmarks/report.py [--out FOLDER] [--run [ID...]]

The results are drawn, since a report reads the same files whoever wrote them. With --run, the agents baseline and dummy
really work on these competitions (default: the whole benchmark) on synthetic data: about an hour on two cores.

Every figure of the report and its page is computed again from the runs' files, and the page is opened in Chromium, if
that is installed; what is wrong is printed, and the exit code is 1. With --out, groups, page and screenshots are kept
there, and the same command resumes runs that were interrupted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

from _measure import rounds, run, scratch, table

AGENTS = ("baseline", "dummy")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "reports"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--run", nargs="*", metavar="ID")
    parser.add_argument("--size", type=float, default=0.2, help="of the synthetic data")
    options = parser.parse_args()
    with nullcontext(options.out) if options.out else scratch() as folder:
        if options.run is None:
            draw_groups(folder)
        else:
            run_groups(folder, options.run, options.size)
        page = folder / "report.html"
        report = mlecore("report", *AGENTS, "--runs", str(folder / "runs"))
        steps = {
            "text": report,
            "JSON": [*report, "--json"],
            "page": [*report, "--against", "published", "--html", str(page)],
        }
        print(table(rounds({name: lambda step=step: run(step) for name, step in steps.items()})))
        print(f"the page has {page.stat().st_size / 1e6:.2f} MB{f': {page}' if options.out else ''}")
        problems = [*check_figures(report, folder / "runs", page), *open_page(page)]
        print("\n".join(problems) or "no problem found")
        sys.exit(bool(problems))


def mlecore(*words: str) -> list[str]:
    return [sys.executable, "-c", "from mlecore.cli import main; main()", *words]


def draw_groups(folder: Path) -> None:
    from groups import write_group

    (folder / "runs").mkdir(parents=True, exist_ok=True)
    for agent, skill in zip(AGENTS, (0.7, 0.3), strict=True):
        write_group(folder / "runs", agent, agent=agent, skill=skill)


def run_groups(folder: Path, names: list[str], size: float) -> None:
    """Both agents on these competitions, or on the whole benchmark, three seeds each; what is there is not repeated."""
    from mlecore.reports.benchmark import split_ids

    names = names or list(split_ids("all"))
    data = ["--data", str(folder / "data"), "--synthetic"]
    subprocess.run(mlecore("prepare", *names, *data, "--size", str(size)), check=True)
    wanted = [word for name in names for word in ("--competition", name)]
    rest = ["--seeds", "3", "--time-limit", "10m", "--runs", str(folder / "runs")]
    for agent in AGENTS:
        subprocess.run(mlecore("run", "--agent", agent, *wanted, *data, *rest, "--group", agent), check=True)


def check_figures(report: list[str], runs: Path, page: Path) -> list[str]:
    """Where report or page are not what the runs' files say."""
    import recomputed

    found = json.loads(subprocess.run([*report, "--json"], check=True, capture_output=True).stdout)
    groups = [recomputed.read_group(runs / agent) for agent in AGENTS]
    expected = recomputed.report(groups)
    of_page = recomputed.report(groups, against_published=True)
    print(f"figures of {' and '.join(str(len(group)) for group in groups)} runs computed again")
    return [*recomputed.differences(expected, found), *recomputed.page_differences(of_page, page.read_text())]


def open_page(page: Path) -> list[str]:
    """What the browser's console says; screenshots are left beside the page."""
    from browser import PROGRAM, Browser

    if PROGRAM is None:
        print("not opened: Chromium is not installed")
        return []
    browser = Browser()
    try:
        for name, width in (("light", 1100), ("dark", 1100), ("paper", 720)):
            browser.open(page, dark=name == "dark", paper=name == "paper", width=width)
            page.with_suffix(f".{name}.png").write_bytes(browser.screenshot(whole=True))
        page.with_suffix(".pdf").write_bytes(browser.pdf())
        print("opened in Chromium: light, dark, on paper")
        return browser.problems
    finally:
        browser.close()


if __name__ == "__main__":
    main()
