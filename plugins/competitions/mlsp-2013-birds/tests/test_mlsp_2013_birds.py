"""MLSP 2013 Birds: what is missing or damaged in the download."""

from __future__ import annotations

import zipfile

import pytest
from mle_comp_mlsp_2013_birds import ARCHIVE, ESSENTIAL, SUPPLEMENTAL

from mlecore_testing import Trial
from mlecore_toolkit import ZipWriter


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (f"{ESSENTIAL}/src_wavs/", None, r"\.wav"),  # all of them
        (f"{ESSENTIAL}/rec_id2filename.txt", b"rec_id,filename\n0,r0\n", "names 1 of"),
        (f"{ESSENTIAL}/rec_labels_test_hidden.txt", b"h\n0,1\n\n1,1\n", "line 3"),
        (f"{SUPPLEMENTAL}/segment_features.txt", b"h\n0,0,1\nx,1\n", "line 3: begins with 'x'"),
    ],
)
def test_what_is_missing_or_damaged_is_located(trial: Trial, name: str, content: bytes | None, said: str) -> None:
    raw = trial.raw_copy()
    (raw / ARCHIVE).unlink()
    with zipfile.ZipFile(trial.raw / ARCHIVE) as archive, ZipWriter(raw / ARCHIVE) as other:
        for member in archive.infolist():
            if not member.filename.startswith(name):
                other.move(archive, member, member.filename)
        if content is not None:
            other.add(name, content)
    trial.refuses_raw(raw, said)
