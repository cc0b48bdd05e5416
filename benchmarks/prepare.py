"""`mlecore prepare` of one competition from its archive, beside unzip and md5sum of the same archive.

python benchmarks/prepare.py aerial-cactus-identification --size 35                      17,500 images
python benchmarks/prepare.py text-normalization-challenge-english-language --size 100    2 million tokens
python benchmarks/prepare.py denoising-dirty-documents --size 500                        pages of the real size

The archive is made of synthetic data of that size, deflated as Kaggle's are. The limit is what any tool must do that
unpacks the download, archives inside it included, and verifies it. `mlecore prepare` is the whole command in a process
of its own: MD5, unpacking, the competition's hook, a hash of every file. `of it: the hook` is the hook alone from
unpacked data, `of it: start-up` the interpreter and the competition's module, whatever the size.
"""

from __future__ import annotations

import argparse
import shutil
import zipfile
from pathlib import Path

from _measure import Measured, fresh, python, rounds, run, scratch, table

START = "import sys, mlecore; c = mlecore.competition(sys.argv[1]); c.loaded"
MAKE = f"{START}; from pathlib import Path; c.make_raw(Path(sys.argv[2]), size=float(sys.argv[3]))"
HOOK = f"{START}; from pathlib import Path; c.prepare(*map(Path, sys.argv[2:]))"
MLECORE = "import os, sys; sys.stderr = open(os.devnull, 'w'); from mlecore.cli import main; main()"
UNZIP = 'unzip -q "$0" -d "$1"; find "$1" -name "*.zip" -exec sh -c \'unzip -q "$0" -d "$0.d"\' {} \\;'


def pack(raw: Path, archive: Path) -> float:
    """Zip a folder as Kaggle does; megabytes of the archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for path in sorted(raw.rglob("*")):
            if path.is_file():
                opened.write(path, path.relative_to(raw))
    return archive.stat().st_size / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("competition")
    parser.add_argument("--size", type=float, default=1.0, help="of the synthetic data")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with scratch() as folder:
        raw, archive, data = folder / "raw", folder / "download.zip", folder / "data"
        run(python(MAKE, args.competition, raw, args.size))
        packed = pack(raw, archive)

        def prepare() -> Measured:
            shutil.rmtree(data, ignore_errors=True)
            flags = ["--archive", archive, "--data", data, "--skip-verification", "--json"]
            return run(python(MLECORE, "prepare", args.competition, *flags))

        def hook() -> Measured:
            return run(python(HOOK, args.competition, raw, fresh(folder / "public"), fresh(folder / "private")))

        steps = {
            "unzip": lambda: run(["sh", "-c", UNZIP, archive, fresh(folder / "unzipped")]),
            "md5sum": lambda: run(["md5sum", archive]),
            "mlecore prepare": prepare,
            "of it: the hook": hook,
            "of it: start-up": lambda: run(python(START, args.competition)),
        }
        measured = rounds(steps, args.rounds)
        unpacked = sum(path.stat().st_size for path in (folder / "unzipped").rglob("*") if path.is_file()) / 1e6
        print(f"{args.competition} at size {args.size:g}: {packed:.1f} MB packed, {unpacked:.1f} MB with all unpacked")
        print(f"best of {args.rounds} rounds; MB/s of what is unpacked")
        print(table(measured, limit=("unzip", "md5sum"), mb=unpacked))


if __name__ == "__main__":
    main()
