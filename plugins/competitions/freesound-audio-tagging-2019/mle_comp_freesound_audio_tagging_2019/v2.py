"""Edition v2: test clips have new names; every score is a finite number, and columns go by their names."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import mle_comp_freesound_audio_tagging_2019 as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    move_members,
    new_names,
    open_zip,
    read_answers,
    read_csv,
    rename_rows,
    write_csv,
    write_renamed,
)

SEED = 2


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    tables = {path: read_csv(path) for path in (private / "test.csv", public / "sample_submission.csv")}
    known = [clip for part in ("curated", "noisy") for clip in read_csv(public / f"train_{part}.csv")["fname"]]
    names = new_names(tables[private / "test.csv"]["fname"], "########.wav", seed=SEED, taken=known)
    write_renamed(names, private / "names.csv")
    for path, table in tables.items():
        path.unlink()
        write_csv(rename_rows(table, "fname", names), path)
    (public / "test.zip").unlink()
    with open_zip(raw / "test.zip") as clips:
        found = {PurePosixPath(member).name: member for member in clips.namelist()}
        move_members(clips, public / "test.zip", {found.get(old, old): new for old, new in names.items()})


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """Label-weighted label-ranking average precision."""
    truth, predictions = format.read(submission, read_answers(private / "test.csv"))
    return v1.mean_precision(truth, predictions)
