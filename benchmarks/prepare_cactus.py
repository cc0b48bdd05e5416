"""Preparing aerial-cactus-identification at its real size, beside unzip and md5sum of the same archive.

python benchmarks/prepare_cactus.py [--images 17500] [--rounds 3]

The limit is what any tool must do that unpacks the download and verifies it. `prepare` is the hook in a fresh process,
and `of it: start-up` what the interpreter and importing pandas take of that, whatever the number of images.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from _measure import fresh, python, rounds, run, scratch, table

IMPORT = "import mlecore; c = mlecore.competition('aerial-cactus-identification'); c.loaded; import pandas"
MAKE = f"{IMPORT}, sys; from pathlib import Path; c.make_raw(Path(sys.argv[1]), size=float(sys.argv[2]))"
PREPARE = f"{IMPORT}, sys; from pathlib import Path; c.prepare(*map(Path, sys.argv[1:]))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=17_500)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with scratch() as folder:
        raw, archive = folder / "raw", folder / "raw" / "train.zip"

        def prepare() -> object:
            return run(python(PREPARE, raw, fresh(folder / "public"), fresh(folder / "private")))

        made = run(python(MAKE, raw, args.images / 500))
        steps = {
            "unzip": lambda: run(["unzip", "-q", archive, "-d", fresh(folder / "unzipped")]),
            "md5sum": lambda: run(["md5sum", archive]),
            "prepare": prepare,
            "of it: start-up": lambda: run(python(IMPORT)),
        }
        measured = {**rounds(steps, args.rounds), "make_raw": made}
        size = sum(file.stat().st_size for file in Path(raw).iterdir()) / 1e6
        print(f"{args.images:,} images, {size:.1f} MB, best of {args.rounds} rounds")
        print(table(measured, limit=("unzip", "md5sum"), mb=size))


if __name__ == "__main__":
    main()
