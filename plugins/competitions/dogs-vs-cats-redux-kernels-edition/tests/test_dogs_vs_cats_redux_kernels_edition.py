"""Dogs vs. Cats Redux: what else is in the archive."""

from __future__ import annotations

from pathlib import Path

from mlecore_testing import Trial
from mlecore_toolkit import ZipWriter


def test_only_the_folder_train_counts(trial: Trial, tmp_path: Path) -> None:
    with ZipWriter(tmp_path / "train.zip") as archive:
        for number in range(10):
            archive.add(f"train/cat.{number}.jpg", b"cat")
            archive.add(f"train/dog.{number}.jpg", b"dog")
        for other in ("__MACOSX/train/._cat.0.jpg", "train/more/cat.10.jpg", "train/dog.10.JPG", "cat.11.jpg"):
            archive.add(other, b"not one of them")
    (tmp_path / "test.zip").write_bytes(b"")
    public, _ = trial.prepare(tmp_path)
    kept = [path.read_bytes() for folder in ("train", "test") for path in (public / folder).iterdir()]
    assert sorted(kept) == [b"cat"] * 10 + [b"dog"] * 10
