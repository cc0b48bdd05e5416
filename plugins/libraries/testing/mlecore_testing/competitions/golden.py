"""The competition against its golden file: what the published benchmark makes of the same synthetic data.

``tests/golden.json`` beside a package has, for one seed and size, MD5s of the raw data and of each prepared file, and
the score of each submission below, or that it is invalid. A package without such a file makes no claim to agree.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import random
import tarfile
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.model.sample import open_sample
from mlecore_testing.rules import Broken, Stop, Undecided

if TYPE_CHECKING:
    from mlecore_testing.competitions.harness import Harness

_MANY = 40  # files; of more, those of a folder at the top have one MD5
_TOLERANCE = 1e-9  # of a score, relative or absolute
_NOT_COMPARED = "description.md"  # our own text

Row = list[str]


def golden(harness: Harness) -> Iterator[Broken]:
    """Raw data, prepared files and scores that are not those of the golden file."""
    competition = harness.competition
    file = harness.golden_file
    if file is None:
        raise Undecided("the package has no tests/golden.json, or this is not edition v1")
    known = json.loads(file.read_text(encoding="utf-8"))
    seed, size = known["seed"], known["size"]
    if _md5_of(_digests(harness.shared.raw(competition, seed, size))) != known["raw"]:
        raise Stop(f"make_raw(seed={seed}, size={size}) gives other bytes than those of {file.name}")
    prepared = harness.shared.prepared(competition, seed, size)
    for part in ("public", "private"):
        found = _brief(_digests(prepared / part))
        for name in sorted({*found, *known[part]}):
            if name in known[part] and known[part][name] is None:
                continue  # the published code writes no such file
            if found.get(name) != known[part].get(name):
                yield Broken(f"{found.get(name)} instead of {known[part].get(name)}", f"{part}/{name}")
    with open_sample(competition.facts, prepared / "public") as path:
        sample = path.read_bytes().decode()
    perfect = competition.perfect(prepared / "private").to_csv(index=False)
    variants = submissions(sample, perfect)
    for name, expected in known["submissions"].items():
        yield from _compared(harness, prepared, name, variants[name](), expected)


def _compared(harness: Harness, prepared: Path, name: str, data: bytes, expected: dict[str, Any]) -> Iterator[Broken]:
    if hashlib.md5(data).hexdigest() != expected["md5"]:
        yield Broken("another submission than the recorded one", name)
        return
    response = harness.grade(data, prepared)
    if response.score is None or "score" not in expected:
        alike = response.refusal is not None and "score" not in expected
    else:
        wanted = float(expected["score"])  # infinities and NaN are written as text
        alike = str(response.score) == str(wanted) or math.isclose(
            response.score, wanted, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE
        )
    if not alike:
        yield Broken(f"{response} instead of {expected.get('score', 'a refusal')}", name)


def submissions(sample: str, perfect: str) -> dict[str, Callable[[], bytes]]:
    """Submissions in the text of a CSV: the sample, the perfect one, changed orders, headers, rows and cells."""
    (_, *sample_rows), (header, *rows) = _rows(sample), _rows(perfect)
    (sample_header,) = _rows(sample)[:1]
    head, tail = rows[:1], rows[1:]

    def shuffled() -> bytes:
        mixed = list(rows)
        random.Random(0).shuffle(mixed)
        return _csv(header, mixed)

    def cell(value: str) -> Callable[[], bytes]:
        return lambda: _csv(header, [[*row[:-1], value] for row in head] + tail)

    def either(wrong: Callable[[int], bool]) -> Callable[[], bytes]:
        pairs = list(zip(sample_rows, rows, strict=True))
        return lambda: _csv(header, [bad if wrong(number) else good for number, (bad, good) in enumerate(pairs)])

    found: dict[str, Callable[[], bytes]] = {
        "sample": lambda: _csv(sample_header, sample_rows),
        "perfect": lambda: _csv(header, rows),
        "reversed": lambda: _csv(header, rows[::-1]),
        "shuffled": shuffled,
        "columns_reversed": lambda: _csv(header[::-1], [row[::-1] for row in rows]),
        "rotated": lambda: _csv(header, [[row[0], *other[1:]] for row, other in zip(rows, tail + head, strict=True)]),
        "noisy": lambda: _csv(header, [_noisy(row, number) for number, row in enumerate(rows)]),
        "row_missing": lambda: _csv(header, rows[:-1]),
        "row_twice": lambda: _csv(header, rows + head),
        "row_unknown": lambda: _csv(header, [["no-such-id", *row[1:]] for row in head] + tail),
        "column_missing": lambda: _csv(header[:-1], [row[:-1] for row in rows]),
        "column_extra": lambda: _csv([*header, "extra"], [[*row, "1"] for row in rows]),
        "header_upper": lambda: _csv([name.upper() for name in header], rows),
        "header_only": lambda: _csv(header, []),
        "empty": lambda: b"",
        "cell_blank": cell(""),
        "cell_text": cell("abc"),
        "cell_nan": cell("nan"),
        "cell_inf": cell("inf"),
        "cell_negative": cell("-3.5"),
    }
    if header == sample_header and [row[0] for row in rows] == [row[0] for row in sample_rows]:
        found["half"] = either(lambda number: number % 2 == 0)
        found["tenth_wrong"] = either(lambda number: number % 10 == 0)
    return found


def _noisy(row: Row, number: int) -> Row:
    """Each number but the id moved by up to 0.06, by a pattern."""
    return [row[0], *(_moved(cell, (number * 7919 + place) % 13 - 6) for place, cell in enumerate(row[1:], 1))]


def _moved(cell: str, steps: int) -> str:
    try:
        value = float(cell)
    except ValueError:
        return cell
    return repr(round(value + steps / 100, 6)) if math.isfinite(value) else cell


def _rows(text: str) -> list[Row]:
    return list(csv.reader(io.StringIO(text, newline="")))


def _csv(header: Row, rows: list[Row]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return out.getvalue().encode()


def _digests(folder: Path) -> dict[str, Any]:
    """Path -> MD5; of an archive, those of its members by name."""
    return {path.relative_to(folder).as_posix(): _digest(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def _digest(path: Path) -> str | dict[str, str]:
    if path.suffix == ".zip" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return {info.filename: _md5(archive.read(info)) for info in archive.infolist() if not info.is_dir()}
    if path.name.endswith((".tar", ".tar.gz", ".tgz")) and tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            files = [(info, tar.extractfile(info)) for info in tar.getmembers()]
            return {info.name: _md5(member.read()) for info, member in files if member is not None}
    if path.suffix == ".7z":
        import py7zr

        with tempfile.TemporaryDirectory() as inside:
            with py7zr.SevenZipFile(path) as packed:
                packed.extractall(inside)
            return {name: str(digest) for name, digest in _plain(Path(inside)).items()}
    if path.suffix == ".parquet":  # its bytes depend on the version of the writer
        import pandas as pd

        table = pd.read_parquet(path)
        return _md5((str([str(kind) for kind in table.dtypes]) + table.to_csv()).encode())
    return _md5(path.read_bytes())


def _plain(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): _md5(path.read_bytes()) for path in paths}


def _brief(digests: dict[str, Any]) -> dict[str, Any]:
    """As golden files have them: one MD5 for each archive, and for each folder if there are many files."""
    files = {
        name: _md5_of(digest) if isinstance(digest, dict) else digest
        for name, digest in digests.items()
        if name != _NOT_COMPARED
    }
    if len(files) <= _MANY:
        return files
    folders: dict[str, dict[str, str]] = defaultdict(dict)
    for name in [name for name in files if "/" in name]:
        folders[name.partition("/")[0] + "/"][name] = files.pop(name)
    return files | {folder: {"files": len(inside), "md5": _md5_of(inside)} for folder, inside in folders.items()}


def _md5_of(value: object) -> str:
    return _md5(json.dumps(value, sort_keys=True).encode())


def _md5(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()
