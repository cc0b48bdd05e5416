"""A sound as some two hundred numbers: how loud it is in each band of frequency, on the whole and at its loudest."""

from __future__ import annotations

import io
import struct
import wave

import numpy as np

BANDS = 32
FRAME = 512


def listen(content: bytes) -> np.ndarray:
    """The numbers of one sound file. Raises ValueError or wave.Error for one that it cannot read."""
    rate, signal = aiff(content) if content[:4] == b"FORM" else wav(content)
    if len(signal) < FRAME:
        signal = np.pad(signal, (0, FRAME - len(signal)))
    hop = max(FRAME // 2, len(signal) // 2000)
    starts = np.arange(0, len(signal) - FRAME + 1, hop)
    frames = signal[starts[:, None] + np.arange(FRAME)] * np.hanning(FRAME)
    power = np.log(np.abs(np.fft.rfft(frames, axis=1)) ** 2 + 1e-10)
    edges = np.unique(np.geomspace(1, FRAME // 2, BANDS + 1).astype(int))
    bands = np.add.reduceat(power, edges[:-1], axis=1) / np.diff(np.append(edges[:-1], power.shape[1]))
    clear = bands - np.median(bands, axis=0)  # without the steady noise
    changes = np.abs(np.diff(bands, axis=0)).mean(axis=0) if len(bands) > 1 else np.zeros(bands.shape[1])
    shape = [clear.mean(axis=0), clear.std(axis=0), clear.max(axis=0), np.quantile(clear, 0.9, axis=0)]
    rest = [len(signal) / rate, np.abs(signal).max(), np.log(signal.std() + 1e-9)]
    return np.concatenate([bands.mean(axis=0), *shape, changes, rest]).astype(np.float32)


def wav(content: bytes) -> tuple[int, np.ndarray]:
    with wave.open(io.BytesIO(content)) as file:
        raw = file.readframes(file.getnframes())
        return file.getframerate(), samples(raw, file.getsampwidth(), file.getnchannels(), "little")


def aiff(content: bytes) -> tuple[int, np.ndarray]:
    """AIFF is a list of chunks; two of them matter. (The standard library's reader is gone since Python 3.13.)"""
    at, channels, width, rate, raw = 12, 1, 2, 1.0, b""
    while at + 8 <= len(content):
        name, size = content[at : at + 4], struct.unpack(">I", content[at + 4 : at + 8])[0]
        body = content[at + 8 : at + 8 + size]
        if name == b"COMM":
            channels, _, bits = struct.unpack(">hIh", body[:8])
            exponent, mantissa = struct.unpack(">HQ", body[8:18])  # an 80-bit float
            width, rate = (bits + 7) // 8, mantissa * 2.0 ** ((exponent & 0x7FFF) - 16383 - 63)
        elif name == b"SSND":
            raw = body[8:]
        at += 8 + size + size % 2
    if not raw or rate < 1:
        raise ValueError("no sound in it")
    return int(rate), samples(raw, width, channels, "big")


def samples(raw: bytes, width: int, channels: int, order: str) -> np.ndarray:
    """Numbers within [-1, 1], channels averaged."""
    mark = ">" if order == "big" else "<"
    if width == 1:
        values = np.frombuffer(raw, "u1" if order == "little" else "i1").astype(float)
        values = (values - 128) / 128 if order == "little" else values / 128
    elif width in (2, 4):
        values = np.frombuffer(raw[: len(raw) // width * width], f"{mark}i{width}") / 2.0 ** (8 * width - 1)
    elif width == 3:
        bytes3 = np.frombuffer(raw[: len(raw) // 3 * 3], np.uint8).reshape(-1, 3).astype(np.int64)
        high, middle, low = (0, 1, 2) if order == "big" else (2, 1, 0)
        whole = (bytes3[:, high] << 16) | (bytes3[:, middle] << 8) | bytes3[:, low]
        values = np.where(whole >= 1 << 23, whole - (1 << 24), whole) / 2.0**23
    else:
        raise ValueError(f"{width} bytes a sample")
    values = values[: len(values) // channels * channels]
    mixed: np.ndarray = values.reshape(-1, channels).mean(axis=1)
    return mixed
