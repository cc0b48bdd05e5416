"""Several competitions prepared at once beside one after the other, and beside the slowest of them alone.

python benchmarks/prepare_many.py [--size 20] [--count 8] [ID ...]
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

from _measure import Measured, python, run, scratch, table

MLECORE = "import os, sys; sys.stderr = open(os.devnull, 'w'); from mlecore.cli import main; main()"


def prepare(data: Path, size: float, *names: str) -> Measured:
    return run(python(MLECORE, "prepare", *names, "--synthetic", "--size", size, "--data", data, "--json"))


def main() -> None:
    import mlecore

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("competitions", nargs="*", metavar="ID")
    parser.add_argument("--size", type=float, default=20.0, help="of the synthetic data")
    parser.add_argument("--count", type=int, default=8)
    args = parser.parse_args()
    installed = [p.name for p in mlecore.plugins("competition") if p.state == "ok" and p.name != "optical-digits"]
    names = args.competitions or installed[: args.count]
    with scratch() as folder:
        begin = time.perf_counter()
        single = {name: prepare(folder / "one", args.size, name) for name in names}
        sequence = Measured(
            seconds=time.perf_counter() - begin,
            cpu=sum(m.cpu for m in single.values()),
            peak_mb=max(m.peak_mb for m in single.values()),
        )
        shutil.rmtree(folder / "one")
        together = prepare(folder / "all", args.size, *names)
        print(f"{len(names)} competitions at size {args.size:g}; making the synthetic data is part of each")
        print(table({**single, "one after the other": sequence, "at once": together}, limit=("one after the other",)))


if __name__ == "__main__":
    main()
