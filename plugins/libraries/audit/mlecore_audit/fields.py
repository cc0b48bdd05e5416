"""A file's metadata as text by field: EXIF, XMP, PNG text, DICOM, WAV chunks, tags, .mat, HDF5, JSON, short texts.

Pictures and sounds themselves are not looked at, only what is written beside and behind them.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from mlecore_audit.files import HEAD, is_text

if TYPE_CHECKING:
    from pandas import DataFrame

Fields = dict[str, str | list[str]]  # a list: a sequence of short texts, in the order of the file

MOST = 32 << 20  # bytes of a file that is read whole
_FIELDS = 300  # of one file
_FEW = 20  # items, fewer of which prove nothing
_LONGEST = 2000  # characters of a value
_SEQUENCE = 500  # values in a list that is kept
_XMP = re.compile(rb"<x:xmpmeta.{0,65536}?</x:xmpmeta>", re.DOTALL)
_XMP_VALUE = re.compile(r"([\w:]+)=\"([^\"]*)\"|<([\w:]+)>([^<]+)</")


def table_of(items: Mapping[str, Fields], without: str = "\0") -> DataFrame:
    """A row for each item, by key, and a column for each field that is a text, and that more than a few items have.

    Missing ones are empty. Documents that name their fields by what is in them have many that no other has. Fields
    whose names begin with ``without`` are left out.
    """
    import pandas as pd

    found = Counter(name for own in items.values() for name, value in own.items() if isinstance(value, str))
    common = [
        name for name, count in found.items() if count >= min(_FEW, len(items) / 2) and not name.startswith(without)
    ]
    rows = {key: [own.get(name, "") for name in common] for key, own in items.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=common)


def is_picture(head: bytes) -> bool:
    """By the first bytes of a file."""
    return head.startswith((b"\xff\xd8\xff", b"\x89PNG", b"II*\0", b"MM\0*", b"GIF8", b"BM")) or head[8:12] == b"WEBP"


def reader_of(head: bytes) -> Callable[[IO[bytes], int], Fields] | None:
    """What reads files that begin so; None for those that have no metadata."""
    if is_picture(head):
        return _picture
    if head[128:132] == b"DICM":
        return _dicom
    if head.startswith((b"RIFF", b"FORM", b"fLaC", b"OggS", b"ID3", b"\xff\xfb")) or head[4:8] == b"ftyp":
        return _sound
    if head.startswith(b"MATLAB 5.0"):
        return _mat
    if head.startswith(b"\x89HDF\r\n"):
        return _hdf5
    if head.lstrip()[:1] in (b"{", b"["):
        return _json
    return _short if 0 < len(head) < HEAD and is_text(head) else None


def _picture(stream: IO[bytes], size: int) -> Fields:
    from PIL import ExifTags, Image

    data = stream.read(MOST)
    found: Fields = {}
    with _any_size(), Image.open(io.BytesIO(data)) as picture:  # whose pixels are not decoded
        found |= {"#width": str(picture.width), "#height": str(picture.height), "#mode": picture.mode}
        unread = (
            picture.format == "PNG" and "exif" not in picture.info
        )  # Pillow would decode it to look behind its pixels
        exif = Image.Exif() if unread else picture.getexif()
        for tags in (exif, exif.get_ifd(ExifTags.IFD.Exif)):
            found |= {f"EXIF {ExifTags.TAGS.get(tag, tag)}": _text(value) for tag, value in tags.items()}
        for name, value in picture.info.items():
            if isinstance(value, (str, int, float, tuple)) or name == "comment":
                found[f"text {name}"] = _text(value)
        if picture.format in ("JPEG", "MPO"):
            tables = getattr(picture, "quantization", {})
            found["#quantization"] = str(sum(map(sum, tables.values())))
    if xmp := _XMP.search(data):
        for a, b, c, d in _XMP_VALUE.findall(xmp[0].decode("utf-8", "replace")):
            found[f"XMP {a or c}"] = b or d
    end = data.rfind(b"\xff\xd9") + 2 if data.startswith(b"\xff\xd8") else len(data)
    if data.startswith(b"\x89PNG"):  # text after the picture, which Pillow would decode first
        found |= {f"text {name}": value for name, value in _png_texts(data)}
        end = data.rfind(b"IEND") + 8
    found |= {"#bytes behind the picture": str(len(data) - end), "text behind it": _text(data[end : end + _LONGEST])}
    return found


@contextmanager
def _any_size() -> Iterator[None]:
    """Pillow opens pictures of any dimensions, which may be lies."""
    from PIL import Image

    most, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        yield
    finally:
        Image.MAX_IMAGE_PIXELS = most


def _png_texts(data: bytes) -> Iterator[tuple[str, str]]:
    at = 8
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            name, _, text = data[at + 8 : at + 8 + length].partition(b"\0")
            packed = kind == b"zTXt"
            if kind == b"iTXt":  # flags of compression, a language, and the name in it come first
                packed, text = text[:1] == b"\1", text[2:].split(b"\0", 2)[-1]
            elif packed:
                text = text[1:]
            if packed:
                text = zlib.decompressobj().decompress(text, _LONGEST)
            yield name.decode("latin-1"), text[:_LONGEST].decode("utf-8" if kind == b"iTXt" else "latin-1", "replace")
        at += 12 + length


def _dicom(stream: IO[bytes], size: int) -> Fields:
    import pydicom

    dataset = pydicom.dcmread(io.BytesIO(stream.read(MOST)), stop_before_pixels=True, force=True)
    return {
        f"DICOM {element.keyword or element.tag}": _text(element.value)
        for element in dataset
        if element.VR not in ("SQ", "OB", "OW", "UN")
    }


def _sound(stream: IO[bytes], size: int) -> Fields:
    data = stream.read(MOST)
    found: Fields = dict(_riff(data)) if data.startswith(b"RIFF") else {}
    import mutagen

    try:
        tagged = mutagen.File(io.BytesIO(data))
    except mutagen.MutagenError:
        return found
    if tagged is not None:
        for name in ("length", "sample_rate", "channels", "bitrate"):
            if (value := getattr(tagged.info, name, None)) is not None:
                found[f"#{name}"] = str(value)
        found |= {f"tag {name}": _text(value) for name, value in (tagged.tags or {}).items()}
    return found


def _riff(data: bytes, at: int = 12, end: int | None = None) -> Iterator[tuple[str, str]]:
    """Chunks besides the sound: LIST INFO, bext, cue and whatever else holds text."""
    end = min(len(data), end or len(data))
    while at + 8 <= end:
        kind, length = data[at : at + 4], struct.unpack("<I", data[at + 4 : at + 8])[0]
        body = data[at + 8 : at + 8 + min(length, _LONGEST)]
        if kind == b"LIST":
            yield from _riff(data, at + 12, at + 8 + length)
        elif kind not in (b"data", b"fmt ", b"fact"):
            yield f"chunk {kind.decode('latin-1').strip()}", body.rstrip(b"\0").decode("utf-8", "replace")
        at += 8 + length + length % 2


def _mat(stream: IO[bytes], size: int) -> Fields:
    from scipy.io import loadmat

    if size > MOST * 8:
        raise ValueError(f"a .mat file of {size} bytes is too large to read whole")
    values = loadmat(io.BytesIO(stream.read(8 * MOST)), simplify_cells=True)
    return dict(_flat({name: value for name, value in values.items() if not name.startswith("__")}, "mat"))


def _hdf5(stream: IO[bytes], size: int) -> Fields:
    import h5py

    found: Fields = {}
    source = stream if stream.seekable() else io.BytesIO(stream.read(MOST))
    source.seek(0)
    with h5py.File(source, "r") as file:

        def look(name: str, node: Any) -> None:
            for attribute, value in node.attrs.items():
                found[f"HDF5 {name}@{attribute}"] = _text(value)
            if isinstance(node, h5py.Dataset) and node.size is not None and node.size <= _SEQUENCE:
                found.update(_flat(node[()], f"HDF5 {name}"))

        look("", file)
        file.visititems(look)
    return found


def _short(stream: IO[bytes], size: int) -> Fields:
    return {"text": _text(stream.read(HEAD))}


def _json(stream: IO[bytes], size: int) -> Fields:
    if size > MOST:
        raise ValueError("a long document is read as a table, not as the metadata of an item")
    return dict(_flat(json.loads(stream.read(MOST + 1)), "JSON"))


def _flat(value: Any, name: str, depth: int = 6) -> Iterator[tuple[str, str | list[str]]]:
    """The values in nested mappings and lists, by their path; of a list of records the lists of their fields."""
    import numpy as np

    if isinstance(value, np.ndarray):
        value = value.tolist() if value.size <= _SEQUENCE else None
    if isinstance(value, Mapping) and depth:
        for key, inner in list(value.items())[:_FIELDS]:
            yield from _flat(inner, f"{name}.{key}", depth - 1)
    elif isinstance(value, (list, tuple)) and depth and len(value) <= _SEQUENCE:
        if value and all(isinstance(each, Mapping) for each in value):
            for key in value[0]:
                yield from _flat([each.get(key) for each in value], f"{name}.{key}", depth - 1)
        elif all(isinstance(each, (str, int, float, bytes)) for each in value):
            yield name, [_text(each) for each in value]
    elif isinstance(value, (str, int, float, bytes, bool)):
        yield name, _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bytes):  # comments begin with the name of their code where EXIF says so
        value = value.removeprefix(b"ASCII\0\0\0").decode("utf-8", "replace").strip("\0 ")
    return str(value)[:_LONGEST]
