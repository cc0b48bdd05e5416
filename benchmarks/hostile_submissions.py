"""How long grading and checking take, and how much memory, on hostile submissions to every competition.

    python benchmarks/hostile_submissions.py [--mb 60] [--seconds 10] [--gb 1] [ID ...]

Each competition is prepared from synthetic data. Submissions have about as many bytes as allowed: one endless cell, a
million tokens in a cell, as many rows as fit, odd numbers, odd quotation marks. Names those that take more CPU seconds
or memory than given, or end in anything but a score or a verdict; exit code 1 if there are any.
"""

from __future__ import annotations

import argparse
import io
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
from mlecore_testing.trial import Trial

from mlecore.competitions import Competition, competition, installed
from mlecore.data.sample import open_sample
from mlecore.errors import InvalidSubmission
from mlecore.grading import scoring

PATIENCE = 120  # seconds of CPU

TOKENS = {
    "letters": "x",
    "digits": "9",
    "ones": "1 ",
    "large integers": "99999999999999999999 ",
    "signed": "+1 ",
    "tenths": "0.1 ",
    "infinities": "inf ",
    "huge numbers": "1e308 ",
    "words": "ab ",
    "unicode digits": "\u0661 ",
    "blanks": " ",
    "commas": "1,",
    "brackets": "[",
    "dashes": "-",
    "accents": "e\u0301",
}


def submissions(sample: pd.DataFrame, perfect: pd.DataFrame, size: int) -> Iterator[tuple[str, str]]:
    """Name and text. ``sample`` and ``perfect`` hold text; the last column, and the first but the id, are attacked."""
    rows = len(sample)
    columns = list(dict.fromkeys([sample.columns[min(1, len(sample.columns) - 1)], sample.columns[-1]]))
    header = ",".join(sample.columns)
    for column in columns:
        own = max((cell for cell in perfect[column]), key=len) if column in perfect else "1"
        place = int(perfect[column].str.len().argmax()) if column in perfect else 0
        tokens = {**TOKENS, "true": own + " ", "true halves": own[: max(1, len(own) // 2)] + " ", "ascending": ""}
        for name, token in tokens.items():
            cell = token * (size // len(token.encode())) if token else _ascending(size)
            for base, frame in (("sample", sample), ("perfect", perfect)):
                if base == "perfect" and name not in ("true", "true halves", "words", "ones"):
                    continue
                if column in frame:
                    yield f"{column}: one cell of {name}, else {base}", _with(frame, column, {place: cell})
            spread = cell[: len(cell) // rows]
            yield f"{column}: all cells of {name}", _with(sample, column, dict.fromkeys(range(rows), spread))
            prefixed = {row: spread[:-8] + f"{row:08d}" for row in range(rows)}
            if name in ("letters", "words", "ones"):
                yield f"{column}: long cells of {name} that differ at the end", _with(sample, column, prefixed)
        for value in ("nan", "inf", "-inf", "1e308", "9" * 400, "1", "0", "", "True", "\u0661", "x"):
            yield f"{column}: all {value[:8]!r}", _with(sample, column, dict.fromkeys(range(rows), value))
    body = "\n".join(_csv(sample).splitlines()[1:]) + "\n"
    yield "rows repeated", header + "\n" + body * (size // len(body.encode()))
    first = body.split("\n", 1)[0] + "\n"
    yield "one row repeated", header + "\n" + first * (size // len(first.encode()))
    yield "short rows", header + "\n" + "a\n" * (size // 2)
    yield "rows of commas", header + "\n" + ("," * (len(sample.columns) - 1) + "\n") * (size // len(sample.columns))
    yield "distinct text", header + "\n" + _distinct(len(sample.columns), size)
    yield "quoted rows", header + "\n" + ",".join(['"1"'] * len(sample.columns)) * 1 + "\n" + body * (size // len(body))
    yield "an open quotation mark", header + '\n"' + body * (size // len(body.encode()))
    yield "quotation marks", header + "\n" + '"' * size
    width = max(2, min(9000, size // rows // 2))
    yield (
        "wide",
        header
        + "".join(f",w{place}" for place in range(width))
        + "\n"
        + "".join(line + ",1" * width + "\n" for line in body.splitlines()),
    )
    wide = sample.assign(**dict.fromkeys([f"w{place}" for place in range(3)], "y" * (size // rows // 3)))
    yield "wide text", _csv(wide)


def _ascending(size: int) -> str:
    """Runs of a mask: start and length."""
    out, length, start = [], 0, 1
    while length < size:
        out.append(f"{start} 1")
        length += len(out[-1]) + 1
        start += 2
    return " ".join(out)


def _distinct(columns: int, size: int) -> str:
    count = size // (columns * 9)
    return "".join(
        ",".join(f"a{(row * columns + place):07x}" for place in range(columns)) + "\n" for row in range(count)
    )


def _with(frame: pd.DataFrame, column: str, cells: dict[int, str]) -> str:
    values = frame[column].tolist()
    for place, cell in cells.items():
        if place < len(values):
            values[place] = cell
    return _csv(frame.assign(**{column: values}))


def _csv(frame: pd.DataFrame) -> str:
    return str(frame.to_csv(index=False))


def measured(work: Callable[[], object], memory: int) -> tuple[float, float, str]:
    """Seconds of CPU and GB of memory of a fork, and how it ended."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
        try:
            end = f"scored {work()!r:.20}"
        except InvalidSubmission as reason:
            end = f"invalid: {str(reason)[:90]!r}"
        except BaseException as error:
            end = f"FAILED: {type(error).__name__}: {str(error)[:200]}"
        os.write(write, end.encode(errors="replace"))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        end = pipe.read().decode(errors="replace")
    _, status, usage = os.wait4(child, 0)
    if not end:
        end = f"FAILED: status {status}"
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20, end


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=float, default=60.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--gb", type=float, default=1.0)
    parser.add_argument("--size", type=float, default=1.0, help="of the synthetic data")
    parser.add_argument("--memory", type=float, default=8.0, help="GB at which a submission fails, as grading's does")
    parser.add_argument("--only", default="", help="submissions whose name holds this text")
    parser.add_argument("ids", nargs="*")
    arguments = parser.parse_args()
    targets = [competition(id) for id in arguments.ids] or installed()
    bad = 0
    for target in targets:
        bad += _try(target, arguments)
    print(f"{bad} beyond the limits")
    return int(bad > 0)


def _try(target: Competition, arguments: argparse.Namespace) -> int:
    bad = tried = 0
    worst = (0.0, "")
    most = (0.0, "")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trial = Trial(target.id, folder, size=arguments.size)
        with open_sample(target.facts, trial.public) as path:
            sample = pd.read_csv(path, dtype=str, keep_default_na=False)
        perfect = pd.read_csv(
            io.StringIO(target.perfect(trial.private).to_csv(index=False)), dtype=str, keep_default_na=False
        )
        size = int(min(arguments.mb * 1e6, 60e6))
        path = folder / "hostile.csv"
        for what, text in submissions(sample, perfect, size):
            if arguments.only not in what:
                continue
            path.write_text(text)
            del text
            tried += 1
            for hook, work in (
                ("check", lambda: scoring.check(target, path, trial.public)),
                ("grade", lambda: scoring.score(target, path, trial.private, trial.public)),
            ):
                seconds, gb, end = measured(work, int(arguments.memory * 2**30))
                worst, most = max(worst, (seconds, what)), max(most, (gb, what))
                if seconds > arguments.seconds or gb > arguments.gb or end.startswith("FAILED"):
                    bad += 1
                    print(f"{target.id}: {hook}, {what}: {seconds:.1f} s, {gb:.2f} GB, {end}", flush=True)
                if end.startswith("invalid") and hook == "check":
                    break
    print(
        f"{target.id}: {tried} tried; at most {worst[0]:.1f} s ({worst[1]}), {most[0]:.2f} GB ({most[1]})", flush=True
    )
    return bad


if __name__ == "__main__":
    sys.exit(main())
