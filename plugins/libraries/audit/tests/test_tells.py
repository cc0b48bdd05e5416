"""Orders, names, sizes and headers that tell labels are found; what is random is not."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlecore_audit.finding import Finding
from mlecore_audit.tells import _tail

from mlecore.prepare.media import encode

FoundBy = Callable[..., list[Finding]]


def _assert_leak(found: list[Finding], kind: str, file: str, words: str) -> None:
    assert any((f.level, f.kind, f.file) == ("leak", kind, file) and words in f.evidence for f in found), found


def test_a_test_table_sorted_by_the_target_is_a_leak(found_by: FoundBy) -> None:
    def plant(public: Path, train: pd.DataFrame, test: pd.DataFrame) -> None:
        test.sort_values("digit").drop(columns="digit").to_csv(public / "test.csv", index=False)

    found = found_by("tells", plant)
    _assert_leak(found, "order", "public/test.csv", "row of the table tells 'digit'")
    assert found[0].score is not None and found[0].score > 0.5


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


def test_the_tail_of_a_skewed_distribution_is_not_that_of_a_normal_one() -> None:
    shuffled = np.random.default_rng(0).gamma(1.0, size=1060).tolist()
    assert _tail(12.0, shuffled) == pytest.approx(np.exp(-12.0), rel=2)
    assert _tail(0.0, [-1.0, 0.0, 1.0]) == pytest.approx(0.5)
