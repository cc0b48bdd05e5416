"""Runs Dolos: one Node process, which compares files on disk."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from attrs import frozen

from mle_detector_dolos.installing import installed
from mle_detector_dolos.scripts import Script, together
from mlecore.errors import DataError
from mlecore.util.child_environment import child_environment
from mlecore.util.scratch import scratch

_LEAST = 20  # different fingerprints of a file that say something
_MOST = 50  # pairs that are kept
_SHARE = 0.3  # of a file's fingerprints that a reference has, from which on it may be a part of a copy
_SPLIT = 5  # references that are compared with several files together
_MEMORY = 2048  # MiB of Node's heap
Lines = tuple[int, int]
Part = tuple[int, int, int, int, int]  # file, reference, common fingerprints, those of the file, of the reference


@frozen(kw_only=True)
class Pair:
    """Two files that have something in common. Totals, overlap and longest are counts of fingerprints."""

    own: Script
    reference: Script
    similarity: float  # share of their fingerprints that both have: Dolos's, or less without repeats
    dolos: float  # Dolos's own, with repeats
    longest: int  # common fragment
    overlap: int  # of both sides together
    own_total: int
    reference_total: int
    fragments: tuple[tuple[Lines, Lines], ...]  # first and last line on both sides, the longest first

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.own.name,
            "reference": self.reference.name,
            "of": self.reference.of,
            "similarity": round(self.similarity, 4),
            "dolos": round(self.dolos, 4),
            "longest": self.longest,
            "overlap": self.overlap,
            "fingerprints": [self.own_total, self.reference_total],
            "lines": [{"file": list(own), "reference": list(other)} for own, other in self.fragments],
        }


def compare(own: Sequence[Script], references: Sequence[Script], ignored: str) -> list[Pair]:
    """The most similar pairs of a file and a reference, the most similar first. Raises DataError, UsageError.

    Files of which each consists of one reference for the most part are compared with it together, too: a copy may be
    split over several.
    """
    pairs, parts = _pairs(own, references, ignored)
    for reference, files in split_copies(parts)[:_SPLIT]:
        found, _ = _pairs([together([own[number] for number in files])], [references[reference]], ignored)
        pairs += found
    return sorted(pairs, key=lambda pair: -pair.similarity)[:_MOST]


def split_copies(parts: Sequence[Part]) -> list[tuple[int, list[int]]]:
    """References that several files seem to be copies of, with these files; the most similar first.

    Files are added to those that consist of the reference the most, as long as that makes them more similar to it.
    """
    by_reference: dict[int, list[Part]] = {}
    for part in parts:
        by_reference.setdefault(part[1], []).append(part)
    found: list[tuple[float, int, list[int]]] = []
    for reference, files in by_reference.items():
        files.sort(key=lambda part: (-part[2] / part[3], part[0]))
        both = own = best = 0.0
        count = 0
        for number, (_, _, common, size, whole) in enumerate(files, 1):
            both, own = both + common, own + size
            similarity = 2 * min(both, whole) / (own + whole)
            if similarity > best:
                best, count = similarity, number
        if count > 1:
            found.append((best, reference, sorted(part[0] for part in files[:count])))
    return [(reference, chosen) for _, reference, chosen in sorted(found, key=lambda each: (-each[0], each[1]))]


def _pairs(own: Sequence[Script], references: Sequence[Script], ignored: str) -> tuple[list[Pair], list[Part]]:
    found, parts = _compare(tuple(own), tuple(references), ignored)
    pairs = [
        Pair(
            own=own[each["own"]],
            reference=references[each["reference"]],
            similarity=float(each["similarity"]),
            dolos=float(each["dolos"]),
            longest=int(each["longest"]),
            overlap=int(each["overlap"]),
            own_total=int(each["own_total"]),
            reference_total=int(each["reference_total"]),
            fragments=tuple((tuple(left), tuple(right)) for left, right in each["fragments"]),
        )
        for each in found
    ]
    return pairs, parts


@lru_cache(maxsize=64)
def _compare(
    own: tuple[Script, ...], references: tuple[Script, ...], ignored: str
) -> tuple[list[dict[str, Any]], list[Part]]:
    """Kept, as each run of a group may be judged twice."""
    with scratch() as folder:
        request = {
            "files": _written(folder / "own", own),
            "references": _written(folder / "references", references),
            "ignored": _written(folder / "ignored", [Script(name="", text=ignored)])[0] if ignored.strip() else None,
            "least": _LEAST,
            "most": _MOST,
            "share": _SHARE,
        }
        answer = _ask(request)
    if "error" in answer:
        raise DataError(f"Dolos cannot compare: {answer['error']}")
    return answer["pairs"], [tuple(part) for part in answer["parts"]]


def _written(folder: Path, scripts: Sequence[Script]) -> list[str]:
    folder.mkdir()
    paths = []
    for number, each in enumerate(scripts):
        path = folder / f"{number}.py"
        path.write_text(each.compared, encoding="utf-8", errors="replace")
        paths.append(str(path))
    return paths


def _ask(request: dict[str, Any]) -> dict[str, Any]:
    process = _node()
    assert process.stdin and process.stdout
    try:
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer: dict[str, Any] = json.loads(process.stdout.readline())
    except (OSError, ValueError):
        status = process.wait()
        _node.cache_clear()
        raise DataError(f"Node ended without a result (exit code {status}); its memory is {_MEMORY} MiB") from None
    return answer


@lru_cache(maxsize=1)
def _node() -> subprocess.Popen[str]:
    """It ends with this process, as its standard input does."""
    program = Path(__file__).with_name("compare.mjs")
    return subprocess.Popen(
        ["node", "--expose-gc", f"--max-old-space-size={_MEMORY}", str(program), str(installed())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=child_environment(),
        text=True,
        encoding="utf-8",
    )
