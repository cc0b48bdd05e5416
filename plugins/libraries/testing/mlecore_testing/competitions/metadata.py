"""Rule: texts in pictures (PNG text chunks, EXIF and other tags, comments) do not hold the answers."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import DataError
from mlecore.prepare import extract
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.competitions.leaks import equal, is_known
from mlecore_testing.competitions.rows import test_files
from mlecore_testing.rules import Broken

if TYPE_CHECKING:
    from pandas import DataFrame
    from PIL.Image import Image

_FEWEST = 10  # pictures needed to tell a coincidence from a leak
_MOST = 300  # pictures of one folder or archive that are read
_PICTURES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
_LONGEST = 1000  # characters of a text that are read


def metadata(harness: Harness) -> Iterator[Broken]:
    answers = harness.truth
    for where, files in test_files(harness, answers.index).items():
        pictures = {name: row for name, row in files.items() if name.lower().endswith(_PICTURES)}
        if len(pictures) < _FEWEST or is_known(harness, where):
            continue
        rows = dict(list(pictures.items())[:: len(pictures) // _MOST + 1])
        texts = _table(harness, where, list(rows))
        for field, target in sorted(equal(answers.loc[list(rows.values())], texts)):
            yield Broken(f"{field} of its test pictures is {target!r} of the answers", where)


def _table(harness: Harness, where: str, names: list[str]) -> DataFrame:
    """A row for each picture, a column for each text and each word of a text in them; missing ones are empty."""
    import pandas as pd

    with tempfile.TemporaryDirectory(dir=harness.folder) as folder:
        if "!" in names[0]:
            members = {name.partition("!")[2]: str(place) for place, name in enumerate(names)}
            try:
                extract(harness.prepared / where, Path(folder), members)
            except DataError:
                return pd.DataFrame(index=range(len(names)))
            paths = [Path(folder, place) for place in members.values()]
        else:
            paths = [harness.prepared / name for name in names]
        return pd.DataFrame([_texts(path) for path in paths]).fillna("")


def _texts(path: Path) -> dict[str, str]:
    """``{"Label": "cat 7", "Label, word 1": "cat", "Label, word 2": "7"}``; empty for what is no picture."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            found = {key: str(value)[:_LONGEST] for key, value in _fields(picture)}
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return {}
    for key, text in list(found.items()):
        found |= {f"{key}, word {place}": word for place, word in enumerate(re.findall(r"[\w.+-]+", text), 1)}
    return found


def _fields(picture: Image) -> Iterator[tuple[str, object]]:
    from PIL import ExifTags

    if hasattr(picture, "text"):  # of a PNG; those after its pixels, too
        yield from picture.text.items()
    yield from ((str(key), _decoded(value)) for key, value in picture.info.items() if key != "exif")
    exif = picture.getexif()
    for tags in (exif, exif.get_ifd(ExifTags.IFD.Exif)):
        yield from ((f"EXIF {ExifTags.TAGS.get(tag, tag)}", _decoded(value)) for tag, value in tags.items())


def _decoded(value: object) -> object:
    """Comments are bytes, and start with the name of their code where EXIF says so."""
    if isinstance(value, bytes):
        return value[:_LONGEST].removeprefix(b"ASCII\0\0\0").decode("utf-8", "replace").strip("\0 ")
    return value
