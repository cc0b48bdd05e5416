"""Ids and pictures for synthetic data. The same seed gives the same bytes.

Uses ``RandomState`` instead of ``default_rng``, because numpy promises that its numbers never change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore_toolkit.prepare.media import encode

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray

_SCRAMBLE = 0x9E3779B97F4A7C15  # odd, so that multiplying by it modulo a power of two is invertible


def hex_ids(count: int, digits: int, *, seed: int = 0) -> list[str]:
    """Distinct ids of hex digits in no order. They end in a letter other than e, so that none looks like a number."""
    short = min(digits - 1, 15)
    offset = int.from_bytes(hashlib.sha256(f"offset {seed}".encode()).digest()[:8], "big")
    ids = []
    for i in range(count):
        scrambled = (i * _SCRAMBLE + offset) % 16**short
        rest = hashlib.sha256(f"{seed} {i}".encode()).hexdigest()[: digits - 1 - short] if digits > 16 else ""
        ids.append(f"{scrambled:0{short}x}{rest}{'abcdf'[i % 5]}")
    return ids


def picture(rng: RandomState, label: int, width: int = 32, height: int = 32) -> NDArray[np.uint8]:
    """A noisy picture (height, width, 3) with a disc whose colour depends on the label."""
    import colorsys

    import numpy as np

    pixels = rng.randint(60, 160, (height, width, 3)).astype(np.uint8)
    radius = min(width, height) * rng.uniform(0.2, 0.35)
    x, y = rng.uniform(radius, width - radius), rng.uniform(radius, height - radius)
    rows, columns = np.ogrid[:height, :width]
    disc = (rows - y) ** 2 + (columns - x) ** 2 <= radius**2
    colour = np.array(colorsys.hsv_to_rgb(label * 0.618034 % 1.0, 0.8, 0.9)) * 255
    pixels[disc] = (0.25 * pixels[disc] + 0.75 * colour).astype(np.uint8)
    return pixels


def labelled_pictures(
    rng: RandomState, folder: Path, counts: Mapping[int, int]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Write JPEG files, ``counts`` of each category in random order: ``images/155/04/1234.jpg`` for category 15504.

    Returns the lists ``annotations`` and ``images`` of ``mlecore_toolkit.prepare.coco``.
    """
    import numpy as np

    categories = rng.permutation(np.repeat(list(counts), list(counts.values()))).tolist()
    annotations, images = [], []
    for number, (kind, id) in enumerate(zip(categories, 1000 + rng.permutation(len(categories)), strict=True)):
        name = f"images/{kind // 100:03}/{kind % 100:02}/{id}.jpg"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(encode(picture(rng, kind, 32, 48), "JPEG"))
        annotations.append({"id": number, "image_id": int(id), "category_id": kind})
        images.append({"id": int(id), "file_name": name, "width": 32, "height": 48, "license": 0})
    return annotations, images
