"""Unpacking a download, and an archive within it, beside the programs that everybody has.

python benchmarks/archives.py                                   20,000 files of 1 to 20 kB, 300 pictures of 600 kB
TMPDIR=/dev/shm taskset -c 0 python benchmarks/archives.py      on another disk, with one core
python benchmarks/archives.py small --mb 20                     only one kind, and less of it

"download" is what `mlecore prepare` does with a zip before its hook: MD5, unpacking, a SHA-256 of every file. Its limit
is `unzip` and `md5sum`. "zip in it", "tar.gz in it" and "7z in it" are what hooks do with an archive in the download
(`mlecore_toolkit.extract`), beside `unzip`, `tar` and `7z`; kinds whose program is missing are left out. Start-up of
the interpreter is measured and subtracted. Nothing is removed before the end, as ext4 needs up to a millisecond of CPU
to create a file where many have just been removed; so it takes 30 times the space of --mb.
"""

from __future__ import annotations

import argparse
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from _measure import Measured, python, rounds, run, scratch
from _preparing import noise

SIZES = {"small": (1_000, 20_000), "pictures": (300_000, 900_000)}  # bytes of a file, from and to
START = (
    "import sys; from pathlib import Path; from mlecore.data.unpack import unpack; from mlecore_toolkit import extract"
)
DOWNLOAD = f"{START}; from hashlib import file_digest; a, b = map(Path, sys.argv[1:]); unpack(a, b / 'raw'); "
DOWNLOAD += "file_digest(a.open('rb'), 'md5')"
NESTED = f"{START}; extract(*map(Path, sys.argv[1:]))"
PROGRAMS = {  # by how an archive ends: the program that unpacks $0 into the folder $1
    "zip": 'unzip -q "$0" -d "$1"',
    "tar.gz": 'tar -xzf "$0" -C "$1"',
    "7z": '7z x -bd -o"$1" "$0"',
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help=f"{' or '.join(SIZES)}; default: both")
    parser.add_argument("--mb", type=float, default=200.0, help="of each kind; default: 200")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if unknown := set(args.kinds) - SIZES.keys():
        parser.error(f"unknown kind: {', '.join(sorted(unknown))}")
    print(f"best of {args.rounds} rounds; CPU seconds, wall-clock seconds; x: how many times the limit")
    print(f"{'':22}  {'limit':>13}  {'mlecore':>13}  {'x CPU':>6}  {'x wall':>6}")
    for kind in args.kinds or SIZES:
        with scratch() as folder:
            measured = rounds(dict(_steps(folder, kind, args.mb)), args.rounds)
        start = measured["start"]
        _show(f"{kind}: download", [measured["unzip"], measured["md5sum"]], measured["download"], start)
        for end in PROGRAMS:
            if f"{end} in it" in measured:
                _show(f"{kind}: {end} in it", [measured[f"program for {end}"]], measured[f"{end} in it"], start)


def _show(name: str, limit: list[Measured], ours: Measured, start: Measured) -> None:
    cpu, wall = sum(each.cpu for each in limit), sum(each.seconds for each in limit)
    our_cpu, our_wall = ours.cpu - start.cpu, ours.seconds - start.seconds
    figures = f"{cpu:6.2f} {wall:6.2f}  {our_cpu:6.2f} {our_wall:6.2f}"
    print(f"{name:22}  {figures}  {our_cpu / cpu:6.2f}  {our_wall / wall:6.2f}", flush=True)


def _steps(folder: Path, kind: str, mb: float) -> Iterator[tuple[str, Callable[[], Measured]]]:
    """Packs the archives in ``folder``; what to measure then."""
    archive = folder / "a.zip"
    _pack(archive, kind, mb)
    yield "start", lambda: run(python(START))
    yield "unzip", lambda: run(["sh", "-c", PROGRAMS["zip"], archive, _new(folder)])
    yield "md5sum", lambda: run(["md5sum", archive])
    yield "download", lambda: run(python(DOWNLOAD, archive, _new(folder)))
    for end, program in PROGRAMS.items():
        if shutil.which(program.partition(" ")[0]):
            yield from _nested(_repacked(archive, end), end)


def _nested(archive: Path, end: str) -> Iterator[tuple[str, Callable[[], Measured]]]:
    yield f"program for {end}", lambda: run(["sh", "-c", PROGRAMS[end], archive, _new(archive.parent)])
    yield f"{end} in it", lambda: run(python(NESTED, archive, _new(archive.parent)))


def _new(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder))


def _pack(archive: Path, kind: str, mb: float) -> None:
    left = mb * 1e6
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for number, content in enumerate(noise(*SIZES[kind])):
            opened.writestr(f"images/{number}.jpg", content)
            left -= len(content)
            if left <= 0:
                break


def _repacked(archive: Path, end: str) -> Path:
    """The same files in another kind of archive."""
    target = archive.with_name(f"b.{end}")
    with zipfile.ZipFile(archive) as source:
        if end == "7z":
            import py7zr

            with py7zr.SevenZipFile(target, "w") as packed:
                for name in source.namelist():
                    packed.writestr(source.read(name), name)
        elif end == "tar.gz":
            with tarfile.open(target, "w:gz", compresslevel=6) as tar:
                for info in source.infolist():
                    member = tarfile.TarInfo(info.filename)
                    member.size = info.file_size
                    tar.addfile(member, source.open(info))
        else:
            return archive
    return target


if __name__ == "__main__":
    main()
