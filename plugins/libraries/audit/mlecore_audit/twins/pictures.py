"""Images and sounds as small grey pictures: hashed to find candidates, compared in detail to be sure.

A perceptual hash alone takes chest X-rays, aerial views and letters of one kind for the same picture. So each candidate
is compared in its fine detail, which a copy keeps through scaling and compression, and which no two photographs share.
Mirrored and turned images are found, too; crops and sounds that are shifted in time are not.
"""

from __future__ import annotations

import io
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import Image

Kind = Literal["image", "sound"]
Picture = NDArray[np.float32]
"""Grey values from 0 to 255, of shape (SIDE, SIDE)."""

SIDE = 64
_SMALL, _LOW = 32, 8  # side of what is hashed, and its frequencies that count
_COSINES = np.cos(np.pi / _SMALL * np.outer(np.arange(_LOW), np.arange(_SMALL) + 0.5))
RADIUS = 5  # bits in which the hashes of a picture and its copy may differ
SAME_DETAIL = 0.9  # correlation
_BLUR = 2.0  # pixels: what is coarser is no fine detail
_FLAT = 2.0  # standard deviation of grey values, below which a picture shows nothing
_DETAIL = 0.4  # the same of its fine detail
_LARGEST = 50_000_000  # pixels of an image that is decoded
_SECONDS = 30  # of a sound that are heard
_SUFFIXES: dict[str, Kind] = {
    **dict.fromkeys((".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".dcm"), "image"),
    **dict.fromkeys((".wav", ".aif", ".aiff", ".flac", ".ogg", ".mp3"), "sound"),
}


def kind_of(name: str) -> Kind | None:
    """What a file shows, by its name."""
    return _SUFFIXES.get(PurePosixPath(name).suffix.lower())


def picture_of(data: bytes, kind: Kind) -> Picture | None:
    """The picture in a file. None if it cannot be decoded or shows nothing: equal black images are no twins."""
    try:
        picture = _image(io.BytesIO(data)) if kind == "image" else _spectrogram(io.BytesIO(data))
    except Exception:  # decoders raise anything on damaged files
        return None
    return picture if picture is not None and picture.std() > _FLAT and _detail(picture).std() > _DETAIL else None


def hashes_of(picture: Picture, kind: Kind) -> tuple[int, ...]:
    """Its perceptual hashes of 64 bits, as it is, and of an image in its other ``positions``.

    The bits are which of the lowest frequencies of its cosine transform are above their median (pHash).
    """
    small = picture.reshape(_SMALL, SIDE // _SMALL, _SMALL, SIDE // _SMALL).mean(axis=(1, 3))
    low = _COSINES @ small @ _COSINES.T
    flip = np.where(np.arange(_LOW) % 2, -1, 1)  # a mirror image has the same frequencies, odd ones with another sign
    mirrored = [low, low * flip, low * flip[:, None], low * flip * flip[:, None]]
    every = [*mirrored, *(each.T for each in mirrored)] if kind == "image" else [low]
    return tuple(int.from_bytes(np.packbits(each > np.median(each)).tobytes(), "big") for each in every)


def positions(picture: Picture) -> tuple[Picture, ...]:
    """As it is, mirrored left to right, top to bottom, both, and these with rows as columns."""
    mirrored = picture, picture[:, ::-1], picture[::-1], picture[::-1, ::-1]
    return *mirrored, *(each.T for each in mirrored)


def same(picture: Picture, other: Picture) -> bool:
    """Do they agree in their fine detail?"""
    first, second = _detail(picture).ravel(), _detail(other).ravel()
    return float(np.corrcoef(first, second)[0, 1]) >= SAME_DETAIL


def _detail(picture: Picture) -> Picture:
    from scipy.ndimage import gaussian_filter

    fine: Picture = picture - gaussian_filter(picture, _BLUR)
    return fine


def _image(stream: IO[bytes]) -> Picture | None:
    import warnings

    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image = _dicom(stream) if stream.read(132)[128:] == b"DICM" else None
        if image is None:
            stream.seek(0)
            image = Image.open(stream)
            if image.width * image.height > _LARGEST and image.format != "JPEG":
                return None
            image.draft("L", (2 * SIDE, 2 * SIDE))  # JPEG: decoded at a fraction of its size
        return _scaled(image)


def _dicom(stream: IO[bytes]) -> Image.Image:
    import pydicom
    from PIL import Image

    stream.seek(0)
    pixels = pydicom.dcmread(stream).pixel_array
    while pixels.ndim > 2:  # the middle one of several frames
        pixels = pixels[len(pixels) // 2] if pixels.shape[-1] > 4 else pixels.mean(axis=-1)
    return Image.fromarray(_stretched(pixels))


def _scaled(image: Image.Image) -> Picture:
    from PIL import Image

    if image.mode.startswith(("I", "F")):  # 16 or 32 bits: convert("L") would cut them off
        image = Image.fromarray(_stretched(np.asarray(image)))
    grey = image.convert("RGBA" if "transparency" in image.info else "L").convert("L")
    return np.asarray(grey.resize((SIDE, SIDE), Image.Resampling.BOX), np.float32)


def _stretched(values: NDArray[np.generic]) -> Picture:
    """To grey values, from the smallest to the largest."""
    numbers = values.astype(np.float32)
    low, high = numbers.min(), numbers.max()
    grey: Picture = (numbers - low) * (255 / max(float(high - low), 1e-12))
    return grey


def _spectrogram(stream: IO[bytes]) -> Picture | None:
    """Log energy by frequency and time, each from its lowest to its highest."""
    import soundfile
    from PIL import Image
    from scipy.signal import spectrogram

    with soundfile.SoundFile(stream) as sound:
        wave = sound.read(frames=_SECONDS * sound.samplerate, dtype="float32", always_2d=True).mean(axis=1)
    window = min(512, 2 * (len(wave) // SIDE))
    if window < 16 or not wave.any():
        return None
    energy = spectrogram(wave, nperseg=window, noverlap=window // 2)[2]
    grey = _stretched(np.log(energy + 1e-6 * energy.max()))
    return _scaled(Image.fromarray(grey.astype(np.uint8)))
