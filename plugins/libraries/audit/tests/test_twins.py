"""Planted twins are found, and the score of copying them; what is alike by chance is none."""

from __future__ import annotations

import io
import wave
import zipfile
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from PIL import Image

from mlecore_audit import twins
from mlecore_audit.finding import Finding
from mlecore_audit.twins.files import read_files
from mlecore_audit.twins.hamming import near_pairs
from mlecore_audit.twins.pictures import RADIUS
from mlecore_audit.twins.rows import equal_rows
from mlecore_audit.twins.texts import near_texts

pytestmark = pytest.mark.slow

TRAIN, TEST = 60, 40
WORDS = [f"word{n}" for n in range(2000)]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def rows(rng: np.random.Generator, count: int, part: str, **columns: Any) -> pd.DataFrame:
    ids = [f"{part}{n:03}x" for n in range(count)]
    return pd.DataFrame({"id": ids, **columns, "digit": rng.integers(1, 10, count)})


def scene(rng: np.random.Generator, sigma: float = 2.0) -> NDArray[np.uint8]:
    """Something like a photograph: shapes of all sizes, of shape (120, 160, 3)."""
    from scipy.ndimage import gaussian_filter

    noise = sum(gaussian_filter(rng.normal(size=(120, 160, 3)), (s, s, 0)) * s for s in (sigma, 4, 12))
    return np.asarray(np.clip(128 + 60 * noise / noise.std(), 0, 255), np.uint8)


def jpeg(pixels: NDArray[np.uint8], quality: int = 90, scale: float = 1.0) -> bytes:
    image = Image.fromarray(pixels)
    buffer = io.BytesIO()
    image.resize((round(160 * scale), round(120 * scale))).save(buffer, "jpeg", quality=quality)
    return buffer.getvalue()


def wav(samples: NDArray[np.float64]) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes((samples * 20_000).clip(-32_000, 32_000).astype("<i2").tobytes())
    return buffer.getvalue()


def copied(test: pd.DataFrame, train: pd.DataFrame, count: int) -> pd.DataFrame:
    """The first test rows are the first training rows, under other ids, with their labels."""
    out = test.copy()
    out.loc[: count - 1, out.columns[1:]] = train.loc[: count - 1, out.columns[1:]]
    return out


def the(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


def test_same_bytes_in_a_folder_and_an_archive(subject_of: Any, rng: np.random.Generator) -> None:
    train, test = rows(rng, TRAIN, "a"), rows(rng, TEST, "b")
    test.loc[:29, "digit"] = train.loc[:29, "digit"]
    content = {f"train/{id}.dat": rng.bytes(200_000 if n == 0 else 500) for n, id in enumerate(train["id"])}
    own = {id: rng.bytes(500) for id in test["id"]}
    own |= dict(zip(test["id"][:30], content.values(), strict=False))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for id, data in own.items():
            archive.writestr(f"{id}.dat", data)
    found = the(list(twins.examine(subject_of(train, test, {**content, "test.zip": buffer.getvalue()}))))
    assert found.level == "leak" and found.score == 0.75
    assert found.file == "public/test.zip!b000x.dat"
    assert "30 of 40 test rows have a file with the same bytes as" in found.evidence
    assert "of 30 with known labels, 30 have the same ones" in found.evidence


@pytest.mark.parametrize(("label", "mirrored"), [("right", 1), ("wrong", 1), ("right", -1)])
def test_images_that_were_compressed_and_scaled(
    label: str, mirrored: int, subject_of: Any, rng: np.random.Generator
) -> None:
    train, test = rows(rng, TRAIN, "a"), rows(rng, TEST, "b")
    test.loc[:24, "digit"] = train.loc[:24, "digit"] + (label == "wrong") * 10
    scenes = [scene(rng) for _ in range(TRAIN)]
    files = {f"train/{id}.jpg": jpeg(pixels) for id, pixels in zip(train["id"], scenes, strict=True)}
    for n, id in enumerate(test["id"]):
        files[f"test/{id}.jpg"] = jpeg(scenes[n][:, ::mirrored], 60, 0.8) if n < 25 else jpeg(scene(rng))
    found = the(list(twins.examine(subject_of(train, test, files))))
    assert "25 of 40 test rows have nearly the same image as" in found.evidence
    assert ("25 of them mirrored" in found.evidence) == (mirrored < 0)
    assert (found.level, found.score) == (("leak", 0.625) if label == "right" else ("caution", 0.0))


def test_images_of_one_kind_are_no_twins(subject_of: Any, rng: np.random.Generator) -> None:
    """Equal at a coarse scale, as X-rays are, but each with its own detail."""
    from scipy.ndimage import gaussian_filter

    train, test = rows(rng, TRAIN, "a"), rows(rng, TEST, "b")
    common = gaussian_filter(rng.normal(size=(120, 160, 3)), (14, 14, 0))
    common = 128 + 50 * common / common.std()
    files = {}
    for part, table in (("train", train), ("test", test)):
        for id in table["id"]:
            own = gaussian_filter(rng.normal(size=(120, 160, 3)), (2, 2, 0))
            pixels = np.clip(common + 4 * own / own.std(), 0, 255).astype(np.uint8)
            files[f"{part}/{id}.jpg"] = jpeg(pixels)
    subject = subject_of(train, test, files)
    with read_files(subject) as read:
        hashes = np.array([entry.hashes[0] for entry in read.entries], np.uint64)
    assert len(near_pairs(hashes[:TEST], hashes[TEST:], RADIUS, 3).row) > 20, "the hashes alone would be wrong"
    assert list(twins.examine(subject)) == []


def test_black_images_and_damaged_ones_are_no_twins(subject_of: Any, rng: np.random.Generator) -> None:
    train, test = rows(rng, TRAIN, "a"), rows(rng, TEST, "b")
    black = np.zeros((120, 160, 3), np.uint8)
    files = {f"train/{id}.jpg": jpeg(black, 50) for id in train["id"]}
    files |= {f"test/{id}.jpg": jpeg(black, 90) for id in test["id"]}
    files["test/b000x.jpg"] = files["train/a000x.jpg"][:60]
    assert list(twins.examine(subject_of(train, test, files))) == []


def test_sounds_at_another_loudness(subject_of: Any, rng: np.random.Generator) -> None:
    train, test = rows(rng, TRAIN, "a"), rows(rng, TEST, "b")
    test.loc[:24, "digit"] = train.loc[:24, "digit"]

    def sound() -> NDArray[np.float64]:
        time = np.arange(8000) / 8000
        tones = (rng.uniform(200, 3500), rng.uniform(0.5, 6), rng.uniform(0, 7))
        return np.sin(2 * np.pi * tones[0] * time) * np.sin(tones[1] * np.pi * time + tones[2]) * 0.4 + 0.05 * (
            rng.normal(size=8000)
        )

    sounds = [sound() for _ in range(TRAIN)]
    files = {f"train/{id}.wav": wav(samples) for id, samples in zip(train["id"], sounds, strict=True)}
    for n, id in enumerate(test["id"]):
        files[f"test/{id}.wav"] = wav(sounds[n] * 0.6 if n < 25 else sound())
    found = the(list(twins.examine(subject_of(train, test, files))))
    assert found.level == "leak"
    assert "25 of 40 test rows have nearly the same sound as" in found.evidence


def test_texts_with_a_changed_word(subject_of: Any, rng: np.random.Generator) -> None:
    texts = [" ".join(rng.choice(WORDS, 40)) for _ in range(TRAIN + TEST)]
    train, test = rows(rng, TRAIN, "a", text=texts[:TRAIN]), rows(rng, TEST, "b", text=texts[TRAIN:])
    test = copied(test, train, 25)
    test.loc[:24, "text"] = [text.upper().rpartition(" ")[0] + ", other!" for text in test["text"][:25]]
    found = the(list(twins.examine(subject_of(train, test))))
    assert found.level == "leak" and found.score == 0.625 and found.file == "public/test.csv"
    assert "25 of 40 test rows share most of the phrases in 'text'" in found.evidence


def test_rows_that_are_equal_once_rounded(subject_of: Any, rng: np.random.Generator) -> None:
    train = rows(rng, TRAIN, "a", **{name: rng.normal(size=TRAIN) for name in "uvw"}, kind=["k"] * TRAIN)
    test = rows(rng, TEST, "b", **{name: rng.normal(size=TEST) for name in "uvw"}, kind=["k"] * TEST)
    test = copied(test, train, 25)
    test["u"] += 1e-9
    found = the(list(twins.examine(subject_of(train, test))))
    assert found.level == "leak"
    assert "25 of 40 test rows have the same values, rounded, in all 4 columns as" in found.evidence


def test_clean_data_have_no_twins(subject_of: Any, rng: np.random.Generator) -> None:
    def part(count: int, name: str) -> pd.DataFrame:
        columns = {str(n): rng.integers(0, 3, count) for n in range(5)}
        return rows(rng, count, name, **columns, text=[" ".join(rng.choice(WORDS[:50], 12)) for _ in range(count)])

    train, test = part(2 * TRAIN, "a"), part(TEST, "b")
    files = {f"{'train' if id[0] == 'a' else 'test'}/{id}.jpg": jpeg(scene(rng)) for id in (*train["id"], *test["id"])}
    assert list(twins.examine(subject_of(train, test, files))) == []


def test_rows_are_equal_by_chance_or_not(rng: np.random.Generator) -> None:
    """Of few values many rows are equal by chance; copies among them that have rare values are still found."""

    def part(count: int) -> pd.DataFrame:
        columns: dict[str, Any] = {str(n): rng.choice(list("abcd"), count).astype(object) for n in range(6)}
        return pd.DataFrame({**columns, "spent": np.where(rng.random(count) < 0.8, 0.0, rng.random(count))})

    train, test = part(5000), part(1000)
    keys = pd.Series([f"k{n}" for n in range(5000)])
    spent = np.flatnonzero(train["spent"] > 0)[:50]
    test.iloc[:50] = train.iloc[spent]
    pieces = [(keys[:3000], train[:3000]), (keys[3000:], train[3000:])]
    found = equal_rows(test, pieces, list(test.columns))
    assert {row: found[row] for row in range(50)} == {row: f"k{spent[row]}" for row in range(50)}
    assert len(found) < 55
    equal = test.merge(train.drop_duplicates(), how="inner")
    assert len(equal) > 150, "many more are equal by chance"


def test_near_hashes_are_those_of_brute_force(rng: np.random.Generator) -> None:
    hashes = rng.integers(0, 2**63, 300, dtype=np.uint64)
    others = np.concatenate([rng.integers(0, 2**63, 300, dtype=np.uint64), hashes[:100], hashes[:5]])
    for n in range(100):
        for bit in rng.choice(64, rng.integers(0, 9), replace=False):
            others[300 + n] ^= np.uint64(1) << np.uint64(bit)
    near = near_pairs(hashes, others, 5, 3)
    distance = np.bitwise_count(hashes[:, None] ^ others)
    expected = {(row, int(distance[row].min())) for row in range(300) if distance[row].min() <= 5}
    first: dict[int, int] = {}
    for row, other, bits in zip(near.row.tolist(), near.other.tolist(), near.distance.tolist(), strict=True):
        assert distance[row, other] == bits
        first.setdefault(row, bits)
    assert set(first.items()) == expected and len(expected) > 40


def test_short_texts_and_other_texts_are_no_twins(rng: np.random.Generator) -> None:
    texts = [" ".join(rng.choice(WORDS, 30)) for _ in range(200)]
    half = [" ".join([*text.split()[:15], *rng.choice(WORDS, 15)]) for text in texts]
    short = ["too good to be true", "too good to be true"]
    assert list(near_texts(enumerate([*half, short[0]]), enumerate([*texts, short[1]]))) == []


def test_a_likeness_that_tells_no_more_than_chance_is_a_note(subject_of: Any, rng: np.random.Generator) -> None:
    """Where the sample's prediction is worse than any label, copying any is better than it."""
    texts = [" ".join(rng.choice(WORDS, 40)) for _ in range(TRAIN)]
    train, test = rows(rng, TRAIN, "a", text=texts), rows(rng, TEST, "b", text=texts[:TEST])
    train["digit"] = np.where(rng.random(TRAIN) < 0.9, 7, 3)
    test["digit"] = np.where(rng.random(TEST) < 0.9, 7, 3)
    found = the(list(twins.examine(subject_of(train, test))))
    assert found.level == "caution" and found.score is not None and found.score > 0.7
