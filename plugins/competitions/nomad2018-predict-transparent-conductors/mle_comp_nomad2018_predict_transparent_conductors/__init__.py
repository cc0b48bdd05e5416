"""Nomad2018: formation energy and bandgap of candidates for transparent conductors."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, open_zip, read_csv, rmsle, split, write_csv
from mlecore_toolkit.prepare.zips import find

TARGETS = ["formation_energy_ev_natom", "bandgap_energy_ev"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    for unused in ("test.csv.zip", "test.zip"):  # the published preparation fails without them
        ensure((raw / unused).is_file(), f"{raw / unused} is missing")
    parts = split(read_csv(raw / "train.csv.zip", member="train.csv"), test_size=0.1)
    train, test = (part.assign(id=range(1, len(part) + 1)) for part in parts)
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.drop(columns=TARGETS), public / "test.csv")
    constants = dict(zip(TARGETS, (0.1779, 1.8892), strict=True))
    write_csv(test[["id"]].assign(**constants), public / "sample_submission.csv")
    with open_zip(raw / "train.zip") as crystals:
        for name, part in zip(("train", "test"), parts, strict=True):
            for new, old in enumerate(part["id"], 1):
                folder = public / name / str(new)
                folder.mkdir(parents=True)
                crystal = crystals.read(find(crystals, f"train/{old}/geometry.xyz"))
                (folder / "geometry.xyz").write_bytes(crystal)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return rmsle(truth[TARGETS], predictions[TARGETS])
