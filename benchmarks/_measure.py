"""What the benchmarks share: a process's seconds and peak memory, and a table of them.

Each step runs in a separate process, so that one's memory is not another's peak. Seconds are wall-clock, the best of
the rounds asked for; rounds of all steps take turns, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen


@frozen(kw_only=True)
class Measured:
    """What one step took: wall-clock seconds, those of CPU, and the most memory that its process held at once.

    On a busy machine, CPU seconds tell more than the clock.
    """

    seconds: float
    cpu: float
    peak_mb: float


def run(argv: Sequence[str]) -> Measured:
    """Run a command, which must succeed; the peak is that of its largest process."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(arg) for arg in argv], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    if code := os.waitstatus_to_exitcode(status):
        sys.exit(f"{' '.join(map(str, argv))}: ended with {code}")
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10  # ru_maxrss is in bytes there, in KiB elsewhere
    return Measured(seconds=seconds, cpu=usage.ru_utime + usage.ru_stime, peak_mb=usage.ru_maxrss / scale)


def python(code: str, *args: object) -> list[str]:
    """The command that runs ``code`` in this interpreter; ``sys.argv[1:]`` is ``args``."""
    return [sys.executable, "-c", code, *map(str, args)]


def rounds(steps: Mapping[str, Callable[[], Measured]], count: int = 3) -> dict[str, Measured]:
    """The best time and the highest peak of each step over ``count`` rounds."""
    taken: dict[str, list[Measured]] = {name: [] for name in steps}
    for _ in range(count):
        for name, step in steps.items():
            taken[name].append(step())
    return {
        name: Measured(
            seconds=min(m.seconds for m in all_), cpu=min(m.cpu for m in all_), peak_mb=max(m.peak_mb for m in all_)
        )
        for name, all_ in taken.items()
    }


def table(measured: Mapping[str, Measured], *, limit: Sequence[str] = ()) -> str:
    """A line a step; beside it how many times the steps named in ``limit`` it takes, by the clock and by CPU."""
    bound = sum(measured[name].seconds for name in limit)
    cpu = sum(measured[name].cpu for name in limit)
    width = max(map(len, measured))
    heads = ["seconds", "CPU s", "peak MB", *["x limit", "x CPU"] * bool(limit)]
    lines = [f"{'':{width}}" + "".join(f"  {head:>8}" for head in heads)]
    for name, m in measured.items():
        line = f"{name:{width}}  {m.seconds:8.2f}  {m.cpu:8.2f}  {m.peak_mb:8.0f}"
        lines.append(line + (f"  {m.seconds / bound:8.2f}  {m.cpu / cpu:8.2f}" if limit and name not in limit else ""))
    if limit:
        lines.append(f"limit: {' + '.join(limit)} = {bound:.2f} s, {cpu:.2f} s of CPU")
    return "\n".join(lines)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for this run, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="mlecore-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fresh(folder: Path) -> Path:
    """The folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
