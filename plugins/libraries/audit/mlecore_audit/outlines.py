"""Outlines (GeoJSON, polygons in JSON) of test pictures whose answers are masks: drawn, are they the answers?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mlecore_audit.files import BROKEN
from mlecore_audit.finding import Finding
from mlecore_audit.subject import Subject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LARGEST = 512 << 20  # bytes of a document
_PIXELS = 1 << 32  # of a picture that is drawn

Polygon = list[tuple[float, float]]


def examine(subject: Subject) -> Iterator[Finding]:
    masks = [
        name for name, column in subject.competition.format.expand(subject.targets).items() if column.type == "mask"
    ]
    if not masks:
        return
    sizes = _sizes(subject, masks[0])
    by_suffix: dict[str, dict[str, tuple[str, list[Polygon]]]] = {}
    for key, items in subject.items("test").items():
        for item in items:
            if item.name.endswith((".json", ".geojson")) and item.size <= _LARGEST and key in sizes:
                try:
                    with item.open() as stream:
                        found = list(polygons(json.load(stream)))
                except (*BROKEN, KeyError, RecursionError) as error:
                    subject.failed(item.name, str(error))
                    continue
                if found:
                    by_suffix.setdefault(item.inner.replace(key, "*"), {})[key] = (item.name, found)
    for outlines in by_suffix.values():
        yield from _tried(subject, masks[0], sizes, outlines)


def polygons(value: Any) -> Iterator[Polygon]:
    """Every list of at least three points in a document, outer rings only."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from polygons(inner)
    elif isinstance(value, list) and value:
        if len(value) >= 3 and all(_is_point(each) for each in value):
            yield [(float(x), float(y)) for x, y, *_ in value]
        else:
            for inner in value:
                yield from polygons(inner)


def _is_point(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(v, (int, float)) for v in value)


def _sizes(subject: Subject, target: str) -> dict[str, tuple[int, int]]:
    """Height and width of the pictures, by key, where the facts say where they are."""
    import pandas as pd

    pixels = subject.competition.format.expand(subject.targets)[target].pixels
    if isinstance(pixels, int):
        side = round(pixels**0.5)
        return dict.fromkeys(subject.answers.index, (side, pixels // side)) if side else {}
    answers = pd.read_csv(subject.root / subject.facts.answers, dtype=str, keep_default_na=False)
    if len(pixels) != 2 or not {*pixels, subject.keys[0]} <= set(answers.columns):
        return {}
    height, width = (answers[name].astype(int) for name in sorted(pixels, key=lambda name: "width" in name.lower()))
    return dict(zip(answers[subject.keys[0]], zip(height, width, strict=True), strict=True))


def _tried(
    subject: Subject,
    target: str,
    sizes: dict[str, tuple[int, int]],
    outlines: dict[str, tuple[str, list[Polygon]]],
) -> Iterator[Finding]:
    """One finding for the better of the two orders in which run lengths may go through a picture."""
    import pandas as pd

    tried = []
    for by_column in (True, False):
        cells = {
            key: _runs(_drawn(found, *sizes[key]), by_column)
            for key, (_, found) in outlines.items()
            if sizes[key][0] * sizes[key][1] <= _PIXELS
        }
        score = subject.score(pd.DataFrame({target: cells}))
        tried.append((subject.gain(score), score))
    gain, score = max(tried, key=lambda pair: pair[0])
    if gain >= 0.1:
        evidence = f"outlines of {len(outlines):,} of {len(subject.answers):,} test pictures; drawn, they are the masks"
        level = "answer" if gain >= 0.5 * len(outlines) / len(subject.answers) else "leak"
        name = next(iter(outlines.values()))[0]
        yield Finding(level=level, kind="outlines", file=name, evidence=evidence, score=score)  # type: ignore[arg-type]


def _drawn(found: list[Polygon], height: int, width: int) -> NDArray[np.bool_]:
    import numpy as np
    from PIL import Image, ImageDraw

    picture = Image.new("1", (width, height))
    draw = ImageDraw.Draw(picture)
    for polygon in found:
        draw.polygon(polygon, fill=1, outline=1)
    return np.asarray(picture)


def _runs(mask: NDArray[np.bool_], by_column: bool) -> str:
    """Starts, from 1, and lengths of the runs of a mask."""
    import numpy as np

    flat = mask.ravel(order="F" if by_column else "C")
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flat, [False]]).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    return " ".join(f"{start + 1} {end - start}" for start, end in zip(starts, ends, strict=True))
