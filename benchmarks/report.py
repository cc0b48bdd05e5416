"""What a report of two big groups costs: 75 competitions x 3 seeds each, compared, as text and as a page.

    python benchmarks/report.py [--out FOLDER] [--run [ID...]]

The results are drawn, since a report reads the same files whoever wrote them. With --run, the agents baseline and dummy
really work on these competitions (default: every installed one) on synthetic data: an hour or more for all of them.
With --out, groups and page are kept there.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

from _measure import rounds, run, scratch, table

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
        report = [*mlecore("report", "baseline", "dummy", "--runs", str(folder / "runs"), "--mix")]
        steps = {
            "text": report,
            "JSON": [*report, "--json"],
            "page": [*report, "--against", "published", "--html", str(page)],
        }
        print(table(rounds({name: lambda step=step: run(step) for name, step in steps.items()})))
        print(f"the page has {page.stat().st_size / 1e6:.2f} MB{f': {page}' if options.out else ''}")


def mlecore(*words: str) -> list[str]:
    return [sys.executable, "-c", "from mlecore.cli import main; main()", *words]


def draw_groups(folder: Path) -> None:
    from groups import write_group

    (folder / "runs").mkdir(parents=True, exist_ok=True)
    for agent, skill in (("baseline", 0.7), ("dummy", 0.3)):
        write_group(folder / "runs", agent, agent=agent, skill=skill)


def run_groups(folder: Path, names: list[str], size: float) -> None:
    """Both agents on these competitions, or on the whole benchmark, three seeds each; what is there is not repeated."""
    from mlecore.reports.benchmark import split_ids

    names = names or list(split_ids("all"))
    data = ["--data", str(folder / "data"), "--synthetic"]
    subprocess.run(mlecore("prepare", *names, *data, "--size", str(size)), check=True)
    wanted = [word for name in names for word in ("--competition", name)]
    rest = ["--seeds", "3", "--time-limit", "10m", "--runs", str(folder / "runs")]
    for agent in ("baseline", "dummy"):
        subprocess.run(mlecore("run", "--agent", agent, *wanted, *data, *rest, "--group", agent), check=True)


if __name__ == "__main__":
    main()
