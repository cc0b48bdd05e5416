"""`mlecore prepare` and `grade` of all installed competitions in one table, beside unzip and md5sum.

python benchmarks/competitions.py                                  100 MB of synthetic data each: hours
python benchmarks/competitions.py leaf-classification --mb 20
python benchmarks/competitions.py --mb 100 --record                keep the figures for later comparisons

Figures are seconds of CPU, of all processes: other work on the machine changes them less than the clock. `tables` is
what polars takes to read and write all CSV files of the download, and `x both` our time over that and the limit, of
interest where there are hardly any other data. `grade` is for the perfect submission, which has `rows` lines: choose
--mb so that they are as many as in the real test part. The last column is the ratio that was recorded for the same
class of machine and the same --mb (benchmarks/recorded.json). Competitions without synthetic data are left out. The
last lines name those with the worst ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path

from _measure import python, rounds, run, scratch
from _preparing import LIMIT, MAKE, megabytes, steps
from attrs import asdict, frozen

from mlecore.data.sources import has_synthetic
from mlecore.plugins.competitions import all_competitions

RECORDED = Path(__file__).with_name("recorded.json")
WORST = 10
SENSIBLE = dict.fromkeys(("bms-molecular-translation", "uw-madison-gi-tract-image-segmentation"), 10.0)
"""Megabytes at most, of pictures so small that more of them would only measure the file system."""


@frozen(kw_only=True)
class Figures:
    """What was measured for one competition."""

    mb: float  # unpacked
    limit: float  # seconds of CPU
    ours: float  # seconds of CPU
    peak_mb: float  # of the largest process
    tables: float = 0.0  # seconds of CPU in which polars reads and writes all of them
    rows: int = 0  # of the submission
    grade: float = 0.0  # seconds of CPU

    @property
    def ratio(self) -> float:
        return self.ours / self.limit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("competitions", nargs="*", help="default: all that are installed")
    parser.add_argument("--mb", type=float, default=100.0, help="of synthetic data, about; default: 100")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--record", action="store_true", help=f"keep the figures in {RECORDED.name}")
    args = parser.parse_args()
    known = {found.id: found for found in all_competitions()}
    if unknown := set(args.competitions) - known.keys():
        sys.exit(f"not installed: {', '.join(sorted(unknown))}")
    chosen = args.competitions or [id for id, found in known.items() if has_synthetic(found)]
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    before = recorded.setdefault(machine(), {}).setdefault(f"{args.mb:g} MB", {})

    width = max(map(len, chosen))
    print(f"{machine()}; best of {args.rounds} rounds; limit: CPU seconds of {' + '.join(LIMIT)}")
    print(
        f"{'':{width}}  {'MB':>7}  {'limit':>7}  {'tables':>7}  {'ours':>7}  {'ratio':>6}  {'x both':>6}"
        f"  {'peak MB':>7}  {'rows':>9}  {'grade':>6}  {'recorded':>8}"
    )
    taken: dict[str, Figures] = {}
    for id in chosen:
        f = taken[id] = measure(id, min(args.mb, SENSIBLE.get(id, args.mb)), args.rounds)
        old = f"{Figures(**before[id]).ratio:8.2f}" if id in before else f"{'-':>8}"
        print(
            f"{id:{width}}  {f.mb:7.1f}  {f.limit:7.2f}  {f.tables:7.2f}  {f.ours:7.2f}  {f.ratio:6.2f}"
            f"  {f.ours / (f.limit + f.tables):6.2f}  {f.peak_mb:7.0f}  {f.rows:9,}  {f.grade:6.2f}"
            f"  {old}",
            flush=True,
        )
        if args.record:
            before[id] = asdict(f)
            RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    if len(taken) > WORST:
        print("worst: " + ", ".join(sorted(taken, key=lambda id: -taken[id].ratio)[:WORST]))


def machine() -> str:
    """Its class: figures of others do not compare."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs"


def measure(id: str, mb: float, count: int) -> Figures:
    """At the size of synthetic data that has about ``mb`` megabytes, as far as their size allows that."""
    with scratch() as folder:
        run(python(MAKE, id, folder / "one", 1))
        size = mb / megabytes(folder / "one")
    with scratch() as folder:
        measured = rounds(steps(id, size, folder), count)
        return Figures(
            mb=round(megabytes(folder / "unzipped"), 1),
            limit=round(sum(measured[name].cpu for name in LIMIT), 3),
            tables=round(measured["polars"].cpu, 3),
            ours=round(measured["mlecore prepare"].cpu, 3),
            peak_mb=round(measured["mlecore prepare"].peak_mb),
            rows=sum(1 for _ in (folder / "submission.csv").open(encoding="utf-8")) - 1,
            grade=round(measured["mlecore grade"].cpu, 3),
        )


if __name__ == "__main__":
    main()
