"""Orders, names, sizes and headers that tell labels are found; what is random is not."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mlecore_audit.finding import Finding
from mlecore_audit.run import findings
from mlecore_audit.subject import Subject
from mlecore_toolkit.prepare.media import encode

FoundBy = Callable[..., list[Finding]]


def _assert_leak(found: list[Finding], kind: str, file: str, words: str) -> None:
    assert any((f.level, f.kind, f.file) == ("leak", kind, file) and words in f.evidence for f in found), found


def test_a_test_table_sorted_by_the_target_is_a_leak(found_by: FoundBy) -> None:
    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        test.sort_values("digit").drop(columns="digit").to_csv(public / "test.csv", index=False)

    found = found_by("tells", plant)
    _assert_leak(found, "order", "public/test.csv", "row of the table tells 'digit'")
    assert found[0].score is not None and found[0].score > 0.5


@pytest.mark.parametrize("numbered", ["in turn", "at random"])
def test_ids_whose_neighbours_are_in_train(numbered: str, subject_of: Callable[..., Subject]) -> None:
    """Rows were numbered thing by thing, five of each."""
    dice = np.random.default_rng(0)
    ids = np.arange(1000) if numbered == "in turn" else dice.permutation(1000)
    table = pd.DataFrame({"id": [f"k{id}" for id in ids], "digit": dice.integers(1, 10, 200).repeat(5)})
    table = table.iloc[dice.permutation(1000)].reset_index(drop=True)
    found = list(findings(subject_of(table[:800], table[800:].reset_index(drop=True)), "tells"))
    if numbered == "in turn":
        _assert_leak(found, "order", "public/test.csv", "of the training row with the nearest id tells 'digit'")
        assert found[0].fix is not None and found[0].fix.endswith("--drop id")
    else:
        assert found == []


def test_members_packed_label_by_label_are_a_leak(found_by: FoundBy) -> None:
    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        with zipfile.ZipFile(public / "test.zip", "w") as archive:
            for id in test.sort_values("digit")["id"]:
                archive.writestr(f"{id}.png", b"")

    _assert_leak(found_by("tells", plant), "order", "public/test.zip", "position in the archive tells 'digit'")


def test_files_written_label_by_label_are_a_leak(found_by: FoundBy) -> None:
    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        (public / "test").mkdir()
        for second, id in enumerate(test.sort_values("digit")["id"]):
            path = public / "test" / f"{id}.png"
            path.touch()
            os.utime(path, (second, second))

    _assert_leak(found_by("tells", plant), "order", "public/test", "tells 'digit'")


def test_sizes_of_pictures_that_are_the_label_are_a_leak(found_by: FoundBy) -> None:
    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        for part, table in (("train", train), ("test", test)):
            (public / part).mkdir()
            for id, digit in table.sample(frac=1, random_state=1)[["id", "digit"]].itertuples(index=False):
                picture = np.zeros((8, 10 + digit), np.uint8)
                (public / part / f"{id}.png").write_bytes(encode(picture, "PNG"))

    found = found_by("tells", plant)
    _assert_leak(found, "content", "public/test", "width tells 'digit': a model of it learned from training items")
    assert next(f for f in found if "width" in f.evidence).score == 1.0


def test_random_names_sizes_and_orders_are_no_tell(found_by: FoundBy) -> None:
    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        rng = np.random.default_rng(3)
        with zipfile.ZipFile(public / "test.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for id in test["id"]:
                archive.writestr(f"{id}.txt", rng.bytes(int(rng.integers(10, 90))).hex())

    assert found_by("tells", plant) == []


def _exif(table: pd.DataFrame, folder: Path) -> None:
    """Pictures whose camera's clock stands at an even second for an even digit."""
    from PIL import Image

    for id, digit in table.sample(frac=1, random_state=1)[["id", "digit"]].itertuples(index=False):
        exif, hour = Image.Exif(), zlib.crc32(id.encode()) % 10
        exif[0x0132] = f"2020:01:0{hour % 7 + 1} 1{hour}:{zlib.crc32(id.encode()) % 50 + 10}:{10 + digit % 2}"
        Image.new("L", (4, 4)).save(folder / f"{id}.jpg", exif=exif)


def _changed(table: pd.DataFrame, folder: Path) -> None:
    for id, digit in table.sample(frac=1, random_state=1)[["id", "digit"]].itertuples(index=False):
        (folder / f"{id}.bin").touch()
        os.utime(folder / f"{id}.bin", (2 * (zlib.crc32(id.encode()) // 9) + digit % 2,) * 2)


@pytest.mark.parametrize(
    ("write", "words"),
    [(_exif, "last digit of EXIF DateTime tells"), (_changed, "last digit of the second of the last change tells")],
)
def test_files_whose_seconds_tell_the_label_are_a_leak(
    found_by: FoundBy, write: Callable[[pd.DataFrame, Path], None], words: str
) -> None:
    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        for part, table in (("train", train), ("test", test)):
            (public / part).mkdir()
            write(table, public / part)

    assert any(f.level in ("leak", "caution") and words in f.evidence for f in found_by("tells", plant))


@pytest.mark.parametrize(
    ("ids", "x", "words"),
    [
        (
            lambda n, y: [f"k{2 * v + d % 2}" for v, d in zip(n, y, strict=True)],
            None,
            "last character of the ids tells",
        ),
        (
            lambda n, y: [f"{v:x}{'qwertyuiop'[d]}" for v, d in zip(n, y, strict=True)],
            None,
            "last character of the ids",
        ),
        (None, lambda n, y: [f"0.{v}{d}" for v, d in zip(n, y, strict=True)], "last digit of 'x' tells"),
    ],
)
def test_last_characters_that_tell_the_label_are_a_leak(
    subject_of: Callable[..., Subject], ids: Any, x: Any, words: str
) -> None:
    rng = np.random.default_rng(1)
    number, digit = rng.permutation(100_000)[:900], rng.integers(0, 10, 900)
    table = pd.DataFrame({"id": [f"k{n}" for n in rng.permutation(900)], "digit": digit, "x": rng.normal(size=900)})
    planted = table.assign(**{name: how(number, digit) for name, how in (("id", ids), ("x", x)) if how})
    found = findings(subject_of((table if x else planted)[:400], planted[400:]), "tells")  # of x, in test rows alone
    assert any(f.level == "leak" and words in f.evidence for f in found)


WAVE = ((np.sin(np.arange(1200) / 25) + 1) * 4.9).astype(int)
DAYS = pd.date_range("2015-01-30", periods=1200, freq="D")
SERIES = {
    "ids are dates": pd.DataFrame({"id": DAYS.strftime("%Y-%m-%d"), "digit": WAVE}),
    "a column is a date": pd.DataFrame(
        {"id": np.random.default_rng(1).permutation(1200), "day": DAYS.strftime("%d/%m/%Y"), "digit": WAVE}
    ),
    "shops and days": pd.DataFrame(
        {
            "id": np.arange(1200),
            "shop": np.repeat(list("ABCDEF"), 200),
            "day": np.tile(np.arange(200) * 86_400, 6),
            "digit": WAVE,
        }
    ),
    "ids are numbers": pd.DataFrame({"id": np.arange(1200), "digit": WAVE}),
}


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("interleaved", [True, False])
def test_an_order_that_is_time_is_no_leak(name: str, interleaved: bool, subject_of: Callable[..., Subject]) -> None:
    table = SERIES[name]
    is_test = np.arange(1200) % 3 == 0 if interleaved else np.arange(1200) >= 800
    parts = (table[part].reset_index(drop=True) for part in (~is_test, is_test))
    found = list(findings(subject_of(*parts), "tells"))
    if name == "ids are numbers" and interleaved:  # whose neighbours' labels are known
        assert [f.level for f in found if "nearest id" in f.evidence] == ["leak"]
        found = [f for f in found if "nearest id" not in f.evidence]
    assert {f.level for f in found} <= ({"caution"} if name == "ids are numbers" else set()), found


def test_sizes_that_content_decides_are_a_caution(found_by: FoundBy) -> None:
    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        rng = np.random.default_rng(5)
        for part, table in (("train", train), ("test", test)):
            (public / part).mkdir()
            for id, digit in table.sample(frac=1, random_state=1)[["id", "digit"]].itertuples(index=False):
                picture = np.zeros((16, 16), np.uint8)
                picture[: 1 + digit] = rng.integers(0, 255, (1 + digit, 16))
                (public / part / f"{id}.png").write_bytes(encode(picture, "PNG"))

    found = found_by("tells", plant)
    assert any("size in bytes" in f.evidence for f in found)
    assert {f.level for f in found} == {"caution"}, found
