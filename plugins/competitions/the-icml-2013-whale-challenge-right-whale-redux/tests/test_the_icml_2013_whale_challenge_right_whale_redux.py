"""Right Whale Redux: days that make the parts, clips that lose their label."""

from __future__ import annotations

import zipfile
from pathlib import Path

from mlecore_testing import Trial

from mlecore.prepare import ZipWriter


def test_clips_are_renamed_day_by_day(trial: Trial, tmp_path: Path) -> None:
    clips = {
        "20090328_164500_61189s4ms_TRAIN4993_0.aif": b"a",
        "20090329_000000_900s0ms_TRAIN7_1.aif": b"b",
        "20090329_000000_1000s0ms_TRAIN12_0.aif": b"c",  # before 900s in the order of names
        "20090330_000000_015s2ms_TRAIN3_1.aif": b"d",
        "20090331_000000_020s0ms_TRAIN1_0.aif": b"e",
        "20090330_000000_9s0ms_TRAIN2_1.aif": b"f",
    }
    with ZipWriter(tmp_path / "train2.zip") as archive:
        archive.add("train2/", b"")
        for name, content in clips.items():
            archive.add(f"train2/{name}", content)
        archive.add("__MACOSX/._train2", b"not a clip")
    public, private = trial.prepare(tmp_path)
    found = {}
    for name in ("train2", "test2"):
        with zipfile.ZipFile(public / f"{name}.zip") as archive:
            found |= {member: archive.read(member) for member in archive.namelist()}
    assert found == {
        "train2/": b"",
        "test2/": b"",
        "train2/20090328_164500_61189s4ms_TRAIN0_0.aif": b"a",
        "train2/20090329_000000_1000s0ms_TRAIN1_0.aif": b"c",
        "train2/20090329_000000_900s0ms_TRAIN2_1.aif": b"b",
        "test2/20090330_000000_015s2ms_Test0.aif": b"d",
        "test2/20090330_000000_9s0ms_Test1.aif": b"f",
        "test2/20090331_000000_020s0ms_Test2.aif": b"e",
    }
    assert (private / "test.csv").read_text() == (
        "clip,probability\n20090330_000000_015s2ms_Test0.aif,1\n20090330_000000_9s0ms_Test1.aif,1\n"
        "20090331_000000_020s0ms_Test2.aif,0\n"
    )


def test_there_are_four_dates(trial: Trial, tmp_path: Path) -> None:
    with ZipWriter(tmp_path / "train2.zip") as archive:
        archive.add("train2/20090328_0_1s_TRAIN0_0.aif", b"")
    trial.refuses_raw(tmp_path, "four dates, found 1")
