"""An image as some four hundred numbers: small colour picture, edges by direction, histograms, sharpness, size."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

Image.MAX_IMAGE_PIXELS = 200_000_000


def look(content: bytes) -> np.ndarray:
    """The numbers of one image file. Raises what Pillow raises for one that it cannot read."""
    with Image.open(io.BytesIO(content)) as image:
        width, height = image.size
        image.draft("RGB", (256, 256))  # JPEG: decoded at a fraction of its size
        if image.mode.startswith("I;16") or image.mode in ("I", "F"):
            wide = np.asarray(image, dtype=float)
            image = Image.fromarray(np.uint8(255 * (wide - wide.min()) / max(1e-9, wide.max() - wide.min())))
        whole = image.convert("RGB").resize((64, 64), Image.Resampling.BOX)
    colour = np.asarray(whole, dtype=np.float32) / 255
    small = np.asarray(whole.resize((8, 8), Image.Resampling.BOX), dtype=np.float32) / 255
    grey = colour.mean(axis=2)
    parts = [
        small.ravel(),
        edges(grey),
        histograms(colour),
        histograms(colour[16:48, 16:48]),
        sharpness(grey),
        np.array([width, height, width / height, np.log1p(len(content))]),
    ]
    return np.concatenate(parts).astype(np.float32)


def edges(grey: np.ndarray) -> np.ndarray:
    """How strong edges are in each of eight directions, in each of 4 x 4 cells."""
    down, right = np.gradient(grey)
    strength = np.hypot(down, right)
    direction = ((np.arctan2(down, right) + np.pi) / (2 * np.pi) * 8).astype(int) % 8
    cells = np.zeros((4, 4, 8), np.float32)
    rows, columns = np.indices(grey.shape)
    np.add.at(cells, (rows * 4 // grey.shape[0], columns * 4 // grey.shape[1], direction), strength)
    return cells.ravel() / (np.linalg.norm(cells) + 1e-3)


def histograms(colour: np.ndarray) -> np.ndarray:
    """Of each channel: twelve bins, mean, deviation, quantiles."""
    out = []
    for channel in range(3):
        values = colour[:, :, channel].ravel()
        out += list(np.histogram(values, bins=12, range=(0, 1))[0] / len(values))
        out += [values.mean(), values.std(), *np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95))]
    return np.array(out)


def sharpness(grey: np.ndarray) -> np.ndarray:
    """How much neighbouring points differ, at three scales."""
    out = []
    for _ in range(3):
        out += [np.abs(np.diff(grey, axis=0)).mean(), np.abs(np.diff(grey, axis=1)).mean(), grey.std()]
        grey = grey.reshape(grey.shape[0] // 2, 2, grey.shape[1] // 2, 2).mean(axis=(1, 3))
    return np.array(out)
