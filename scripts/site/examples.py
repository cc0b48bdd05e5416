"""Examples of what agents see, for the competitions' pages: `scripts/site/examples.py [ID...]`; all takes some minutes.

Prepares a little synthetic data of each competition, and writes to scripts/site/examples/ the first rows of its tables
(ID.json) and, for images and sounds, a strip of them (ID.webp). `make docs` only reads these files, so that it stays
fast. Run this again for a new competition, or after its synthetic data have changed.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from mlecore.model.competition import Competition
from mlecore.plugins.competitions import all_competitions, competition
from mlecore_audit.files import BROKEN, Item, contents
from mlecore_audit.tables import readable_tables

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

EXAMPLES = Path(__file__).parent / "examples"
_SIZE = 0.1  # of the synthetic data
_ROWS, _COLUMNS, _CELL = 3, 8, 48
_HEIGHT, _WIDTH, _SHEET = 112, 180, 700  # pixels: of a picture, at most of one, of the strip
_MOST = 6  # pictures in a strip
_READ, _PER_FOLDER = 40, 8  # pictures of a competition, tables of a folder
_SOUNDS = (".wav", ".aif", ".aiff", ".flac", ".ogg", ".mp3")
_PICTURES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".gif", ".dcm", ".dicom", ".npy")


def main() -> None:
    """Write the examples of the competitions named, or of all."""
    for one in [competition(id) for id in sys.argv[1:]] or all_competitions():
        with TemporaryDirectory() as folder:
            write(one, Path(folder))


def write(one: Competition, folder: Path) -> None:
    """One competition's example, from data that are prepared in the folder."""
    id = one.id
    raw, public = folder / "raw", folder / "public"
    for path in (raw, public, folder / "private"):
        path.mkdir()
    if one.facts.kaggle:
        one.make_raw(raw, seed=0, size=_SIZE)
    else:
        one.fetch(raw)
    one.prepare(raw, public, folder / "private")
    sample = one.facts.sample.removeprefix("public/")
    tables: dict[str, dict[str, Any]] = {}
    seen: Counter[str] = Counter()  # tables by the folder on top
    shown: list[tuple[str, Image]] = []
    for item, stream in contents(folder):
        kind = Path(item.name).suffix.lower()
        if kind in _PICTURES or kind in _SOUNDS:
            if len(shown) < _READ and (picture := _picture(kind, stream)) is not None:
                shown.append((item.inner, picture))
        elif item.name != "public/description.md" and seen[top := item.inner.partition("/")[0]] < _PER_FOLDER:
            found = {item.inner + part: table for part, table in _tables(item, stream)}
            seen[top] += len(found)
            tables |= found
    chosen = [name for name in (_training(tables, sample), _sample(tables, sample)) if name is not None]
    facts = {"tables": [{"file": name, **tables[name]} for name in chosen]}
    text = json.dumps(facts, ensure_ascii=False)
    (EXAMPLES / f"{id}.json").write_text(f"{text}\n", encoding="utf-8")
    strip = EXAMPLES / f"{id}.webp"
    strip.unlink(missing_ok=True)
    if len(shown) > 2:  # a lone array is no picture
        _strip(shown).save(strip, quality=60, method=6)
    print(f"{id}: {', '.join(chosen) or 'no table'}{f'; {len(shown)} pictures' if shown else ''}")


def _tables(item: Item, stream: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The first rows of a file's tables."""
    for part, batches in readable_tables(item, stream, None):
        frame = next(batches, None)
        if frame is not None and len(frame.columns) and frame.columns[0] != "level_0":  # rows of different lengths
            rows = frame.head(_ROWS).iloc[:, :_COLUMNS].fillna("").astype(str)
            cells = [[_cut(cell) for cell in row] for row in rows.itertuples(index=False)]
            yield part, {"columns": list(map(str, rows.columns)), "rows": cells, "more": len(frame.columns) - _COLUMNS}


def _cut(cell: str) -> str:
    cell = " ".join(cell.split())
    return cell if len(cell) <= _CELL else cell[: _CELL - 2].rstrip() + " …"


def _training(tables: dict[str, dict[str, Any]], sample: str) -> str | None:
    """The main table of the training part, by its name."""
    others = [name for name in tables if _stem(name) != _stem(sample) and not re.search("sample_?sub", name, re.I)]
    train = [name for name in others if "train" in name.lower()] or [name for name in others if "label" in name.lower()]
    return min(train or others, key=lambda name: (name.count("/"), len(name)), default=None)


def _sample(tables: dict[str, dict[str, Any]], sample: str) -> str | None:
    return next((name for name in tables if _stem(name) == _stem(sample)), None)


def _stem(name: str) -> str:
    """A table's name without folders and archives: "x.csv.zip!x.csv" is "x"."""
    return re.split("[/!]", name)[-1].partition(".")[0].lower()


def _picture(kind: str, stream: IO[bytes]) -> Image | None:
    """A picture, or a sound's spectrogram, of the strip's height; None if it cannot be read."""
    from PIL import Image

    data = io.BytesIO(stream.read())
    try:
        if kind in _SOUNDS:
            picture = Image.fromarray(_spectrogram(data))
        elif kind in (".dcm", ".dicom", ".npy"):
            picture = Image.fromarray(_grey(_array(kind, data)))
        else:
            opened = Image.open(data)
            deep = opened.mode.startswith(("I", "F"))
            picture = Image.fromarray(_grey(_as_array(opened))) if deep else opened.convert("RGB")
    except (*BROKEN, SyntaxError, AttributeError, TypeError):
        return None
    width = max(_HEIGHT if kind in _SOUNDS else 16, min(_WIDTH, round(picture.width * _HEIGHT / picture.height)))
    return picture.convert("RGB").resize((width, _HEIGHT))


def _as_array(picture: Any) -> NDArray[np.float64]:
    import numpy as np

    return np.asarray(picture, dtype=float)


def _array(kind: str, data: IO[bytes]) -> NDArray[np.float64]:
    """The first plane of a NumPy file or a DICOM image."""
    import numpy as np

    if kind == ".npy":
        array = np.load(data)
        while array.ndim > 2:  # planes come first or last; the smaller axis is theirs
            array = array[0] if array.shape[0] <= array.shape[-1] else array[..., 0]
    else:
        import pydicom

        array = pydicom.dcmread(data, force=True).pixel_array
    if array.ndim != 2:
        raise ValueError("no picture")
    plane: NDArray[np.float64] = np.nan_to_num(array.astype(float))
    return plane


def _grey(array: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Stretched to 0 to 255, extremes cut off."""
    import numpy as np

    low, high = np.percentile(array, (1, 99))
    grey: NDArray[np.uint8] = (np.clip((array - low) / (high - low or 1), 0, 1) * 255).astype("uint8")
    return grey


def _spectrogram(data: IO[bytes]) -> NDArray[np.uint8]:
    import numpy as np
    import soundfile
    from scipy.signal import spectrogram

    samples, rate = soundfile.read(data, always_2d=True)
    _, _, power = spectrogram(samples[:, 0], rate, nperseg=min(256, len(samples)))
    return 255 - _grey(np.log10(power[::-1] + 1e-10))


def _strip(shown: list[tuple[str, Image]]) -> Image:
    """Pictures beside each other: of the training part if it has some, evenly chosen, as many as fit."""
    from PIL import Image

    train = [picture for name, picture in shown if "train" in name.lower()]
    pictures = train or [picture for _, picture in shown]
    pictures = pictures[:: max(1, len(pictures) // _MOST)][:_MOST]
    while sum(picture.width + 4 for picture in pictures) > _SHEET and len(pictures) > 1:
        pictures.pop()
    strip = Image.new("RGB", (sum(picture.width + 4 for picture in pictures) - 4, _HEIGHT), "white")
    left = 0
    for picture in pictures:
        strip.paste(picture, (left, 0))
        left += picture.width + 4
    return strip


if __name__ == "__main__":
    main()
