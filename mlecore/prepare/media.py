"""Picture, sound and DICOM files for synthetic data, as bytes; the same input gives the same bytes.

Pillow is a dependency of the competitions that make pictures; it is imported when one is encoded.
"""

from __future__ import annotations

import hashlib
import io
import struct
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SECONDARY_CAPTURE = "1.2.840.10008.5.1.4.1.1.7"  # SOP class: a picture from anywhere
_EXPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2.1"  # transfer syntax: uncompressed


def encode(pixels: NDArray[np.uint8], kind: Literal["JPEG", "PNG", "TIFF", "BMP"]) -> bytes:
    """A picture file of pixels (height, width) grey or (height, width, 3)."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


def wav(samples: NDArray[np.int16], rate: int) -> bytes:
    """A mono WAV file, 16 bit, ``rate`` samples a second."""
    import wave

    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


def dicom(pixels: NDArray[Any], *, modality: str = "OT", patient: str = "", number: int = 1) -> bytes:
    """A small valid DICOM file: grey pixels (height, width) of uint8 or uint16, uncompressed.

    ``number`` is the instance's number in its series. Unique ids come from the content.
    """
    height, width = pixels.shape
    bits = pixels.dtype.itemsize * 8
    data = pixels.astype(pixels.dtype.newbyteorder("<")).tobytes()
    key = hashlib.sha256(data + f"{modality} {patient} {number}".encode()).digest()
    uid = f"2.25.{int.from_bytes(key[:15], 'big')}"
    meta = (
        _element(0x0002, 0x0001, b"OB", b"\x00\x01")
        + _element(0x0002, 0x0002, b"UI", _SECONDARY_CAPTURE)
        + _element(0x0002, 0x0003, b"UI", uid)
        + _element(0x0002, 0x0010, b"UI", _EXPLICIT_LITTLE_ENDIAN)
        + _element(0x0002, 0x0012, b"UI", "2.25.1")
    )
    body = [
        _element(0x0008, 0x0016, b"UI", _SECONDARY_CAPTURE),
        _element(0x0008, 0x0018, b"UI", uid),
        _element(0x0008, 0x0060, b"CS", modality),
        _element(0x0010, 0x0020, b"LO", patient),
        _element(0x0020, 0x000D, b"UI", f"{uid}.1"),
        _element(0x0020, 0x000E, b"UI", f"{uid}.2"),
        _element(0x0020, 0x0013, b"IS", str(number)),
        _element(0x0028, 0x0002, b"US", 1),  # samples a pixel
        _element(0x0028, 0x0004, b"CS", "MONOCHROME2"),
        _element(0x0028, 0x0010, b"US", height),
        _element(0x0028, 0x0011, b"US", width),
        _element(0x0028, 0x0100, b"US", bits),  # allocated, stored, highest
        _element(0x0028, 0x0101, b"US", bits),
        _element(0x0028, 0x0102, b"US", bits - 1),
        _element(0x0028, 0x0103, b"US", 0),  # unsigned
        _element(0x7FE0, 0x0010, b"OW" if bits == 16 else b"OB", data),
    ]
    return bytes(128) + b"DICM" + _element(0x0002, 0x0000, b"UL", len(meta)) + meta + b"".join(body)


def _element(group: int, number: int, kind: bytes, value: str | int | bytes) -> bytes:
    """One data element, explicit VR, little endian; values are padded to an even length."""
    if isinstance(value, int):
        value = value.to_bytes(2 if kind == b"US" else 4, "little")
    elif isinstance(value, str):
        value = value.encode("ascii")
        value += (b"\x00" if kind == b"UI" else b" ") * (len(value) % 2)
    else:
        value += b"\x00" * (len(value) % 2)
    if kind in (b"OB", b"OW"):
        return struct.pack("<HH2sHI", group, number, kind, 0, len(value)) + value
    return struct.pack("<HH2sH", group, number, kind, len(value)) + value
