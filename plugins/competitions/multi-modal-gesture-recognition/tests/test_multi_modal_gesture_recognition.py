"""Multi-modal Gesture Recognition: archives with stored blocks, and what int() takes."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pandas as pd

from mlecore_testing import Trial


def test_what_int_takes_counts(trial: Trial, answers: pd.DataFrame) -> None:
    odd = ["\u00a0".join(f"+0{number}" for number in cell.split()) for cell in answers["Sequence"]]
    assert trial.grade(answers.assign(Sequence=odd, Id=[f"0{name}" for name in answers["Id"]], more=1)) == 0


def test_archives_with_stored_blocks_are_prepared_alike(trial: Trial) -> None:
    """As Kaggle's are: their last member, a zip, can be found from the end, as if they were zips themselves."""
    raw = trial.raw_copy()
    for path in raw.glob("*.tar.gz"):
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), compresslevel=0))
        assert zipfile.is_zipfile(path)
    public, private = trial.prepare(raw)

    def tables(*folders: Path) -> dict[str, bytes]:
        return {f"{folder.name}/{path.name}": path.read_bytes() for folder in folders for path in folder.glob("*.csv")}

    assert tables(public, private) == tables(trial.public, trial.private)
    assert sorted(tables(public, private)) == [
        *("private/test.csv", "public/randomPredictions.csv", "public/test.csv", "public/training.csv")
    ]
    assert (public / "test.tar.gz").read_bytes() == (raw / "training4.tar.gz").read_bytes()
    assert all(
        (public / f"training{n}.tar.gz").read_bytes() == (raw / f"training{n}.tar.gz").read_bytes() for n in (1, 2, 3)
    )
