"""`mlecore prepare` of a download with many small files, beside unzip and md5sum of the same archive.

python benchmarks/small_files.py                                  20,000 files of 1 to 20 kB
TMPDIR=/dev/shm taskset -c 0 python benchmarks/small_files.py     on another disk, with one core
python benchmarks/small_files.py --mb 20                          fewer files

The download is that of dog-breed-identification, with noise as pictures. Nothing is removed before the end, as ext4
needs up to a millisecond of CPU to create a file where many have just been removed; so it takes 10 times the space of
--mb with 3 rounds.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from _measure import Measured, python, rounds, run, scratch, table
from _preparing import LIMIT, MAKE, MLECORE, noise, pack

COMPETITION = "dog-breed-identification"
PICTURES = 300  # of size 1
SIZES = (1_000, 20_000)  # bytes of a picture, from and to


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=float, default=208.0, help="of pictures; default: 208")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with scratch() as folder:
        steps = _steps(folder, args.mb)
        print(f"{len(list((folder / 'raw').rglob('*.jpg')))} pictures; best of {args.rounds} rounds")
        print(table(rounds(steps, args.rounds), limit=LIMIT))


def _steps(folder: Path, mb: float) -> dict[str, Callable[[], Measured]]:
    """Makes the archive in ``folder``; what to measure then."""
    raw, archive = folder / "raw", folder / "download.zip"
    run(python(MAKE, COMPETITION, raw, mb * 1e6 / (sum(SIZES) / 2 * PICTURES)))
    for path, content in zip(sorted(raw.rglob("*.jpg")), noise(*SIZES), strict=False):
        path.write_bytes(content)
    pack(raw, archive)

    def new() -> str:
        return tempfile.mkdtemp(dir=folder)

    def prepare() -> Measured:
        flags = ["--archive", str(archive), "--data", new(), "--skip-verification", "--json"]
        return run(python(MLECORE, "prepare", COMPETITION, *flags))

    return {
        "unzip": lambda: run(["unzip", "-q", str(archive), "-d", new()]),
        "md5sum": lambda: run(["md5sum", str(archive)]),
        "mlecore prepare": prepare,
    }


if __name__ == "__main__":
    main()
