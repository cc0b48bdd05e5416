"""MLSP 2013 Birds, edition v2: test recordings do not tell place and date."""

from __future__ import annotations

import zipfile
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from mle_comp_mlsp_2013_birds import ARCHIVE, ESSENTIAL, SEGMENTS, SUPPLEMENTAL

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def recordings(trial: Trial) -> pd.DataFrame:
    """A recording's fold and file name, by number."""
    essential = trial.public / "essential_data"
    folds, files = (
        pd.read_csv(essential / f"{name}.txt", index_col="rec_id") for name in ("CVfolds_2", "rec_id2filename")
    )
    return folds.join(files)


def segments(trial: Trial, name: str) -> tuple[str, dict[int, list[str]]]:
    """The header of a file of segments, and what it has of each recording."""
    header, *lines = (trial.public / "supplemental_data" / f"{name}.txt").read_text().splitlines()
    found = defaultdict(list)
    for line in lines:
        id, _, rest = line.partition(",")
        found[int(id)].append(rest)
    assert list(found) == sorted(found)
    return header, found


def test_names_and_numbers_do_not_tell_place_and_date(trial: Trial, trial_v1: Trial) -> None:
    now, before = recordings(trial), recordings(trial_v1)
    assert now["fold"].equals(before["fold"])
    test = now["fold"] == 1
    assert before["filename"].str.startswith("PC").all()
    assert not now.loc[test, "filename"].str.startswith("PC").any()
    assert now.loc[~test, "filename"].equals(before.loc[~test, "filename"])
    ids = pd.read_csv(trial.private / "ids.csv")
    moved = ids[ids["old"].isin(now.index[test])]
    assert abs(np.corrcoef(moved["old"], moved["new"])[0, 1]) < 0.9
    files = {path.stem for path in (trial.public / "essential_data" / "src_wavs").iterdir()}
    assert files == set(now["filename"])


def test_all_of_a_recording_moves_together(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    now, before = recordings(trial), recordings(trial_v1)
    ids = dict(pd.read_csv(trial.private / "ids.csv").to_numpy().tolist())
    old_answers = pd.read_csv(trial_v1.private / "answers.csv").set_index("Id")["Probability"]
    heard = answers.set_index("Id")["Probability"]
    assert heard.index.is_monotonic_increasing
    for old, new in ids.items():
        wavs = (
            (one.public / "essential_data/src_wavs" / f"{name}.wav").read_bytes()
            for one, name in ((trial, now["filename"][new]), (trial_v1, before["filename"][old]))
        )
        assert len(set(wavs)) == 1
        if now["fold"][new] == 1:
            assert [heard[new * 100 + k] for k in range(19)] == [old_answers[old * 100 + k] for k in range(19)]
    for name in SEGMENTS:
        found, published = segments(trial, name)[1], segments(trial_v1, name)[1]
        assert found == {ids[old]: rows for old, rows in published.items()}


def test_each_file_of_segments_has_its_own_header(trial: Trial, trial_v1: Trial) -> None:
    assert len({segments(trial_v1, name)[0] for name in SEGMENTS}) == 1
    with zipfile.ZipFile(trial.raw / ARCHIVE) as archive:
        for name in SEGMENTS:
            assert segments(trial, name)[0] == archive.read(f"{SUPPLEMENTAL}/{name}.txt").decode().splitlines()[0]
        species = archive.read(f"{ESSENTIAL}/species_list.txt")
    assert (trial.public / "essential_data" / "species_list.txt").read_bytes() == species
