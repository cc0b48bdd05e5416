"""MLSP 2013 Birds: recordings with new numbers throughout, labels hidden for the test ones."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial

from mlecore.prepare import ZipWriter

TOP = "mlsp_contest_dataset"


def raw_of(folder: Path, labels: bytes, folds: list[int]) -> Path:
    """A raw folder with recordings 0, 1, ... in these folds."""
    folder.mkdir()
    names = [f"r{i}" for i in range(len(folds))]
    with ZipWriter(folder / f"{TOP}.zip") as archive:
        essential, supplemental = f"{TOP}/essential_data", f"{TOP}/supplemental_data"
        table = "".join(f"{i},{fold}\n" for i, fold in enumerate(folds))
        archive.add(f"{essential}/CVfolds_2.txt", f"rec_id,fold\n{table}".encode())
        table = "".join(f"{i},{name}\n" for i, name in enumerate(names))
        archive.add(f"{essential}/rec_id2filename.txt", f"rec_id,filename\n{table}".encode())
        archive.add(f"{essential}/rec_labels_test_hidden.txt", labels)
        archive.add(f"{essential}/species_list.txt", b"x\r\n")
        for name in names:
            archive.add(f"{essential}/src_wavs/{name}.wav", name.encode())
            for kind in ("spectrograms", "filtered_spectrograms", "supervised_segmentation"):
                archive.add(f"{supplemental}/{kind}/{name}.bmp", f"{kind} {name}".encode())
        archive.add(f"{supplemental}/segmentation_examples/r1.bmp", b"example")
        for name in ("clusters", "mosaic"):
            archive.add(f"{supplemental}/segment_{name}.bmp", name.encode())
        archive.add(f"{supplemental}/histogram_of_segments.txt", b"h\r\n0,0.50,1e-3\r\n2,7\r\n1\r\n4,9")
        archive.add(f"{supplemental}/segment_features.txt", b"h\n")
        archive.add(f"{supplemental}/segment_rectangles.txt", b"h\n2,0,1,2\n2,1,3,4\n")
    return folder


def test_recordings_are_renumbered(trial: Trial, tmp_path: Path) -> None:
    labels = b"rec_id,[labels]\n0,1,?\n5, 04,4,7\n4\n2,\n1,3\n3,?\n6,0"
    raw = raw_of(tmp_path / "raw", labels.replace(b"0,1,?\n", b"0,11\n").replace(b"\n", b"\r\n"), [0, 0, 0, 1, 0, 0, 0])
    public, private = trial.prepare(raw)
    essential, supplemental = public / "essential_data", public / "supplemental_data"
    kept = pd.DataFrame({"rec_id": range(6), "fold": 0})
    test = kept.sample(frac=0.2, random_state=0).index
    kept.loc[test, "fold"] = 1
    assert (essential / "CVfolds_2.txt").read_text() == kept.to_csv(index=False)
    (judged,) = test.tolist()
    texts = {0: "11", 4: " 04,4,7", 3: "", 2: "", 1: "3", 5: "0"}  # by new number, in the order of the label file
    expected = [f"{n},?" if n == judged else f"{n},{t}" if t else str(n) for n, t in texts.items()]
    assert (essential / "rec_labels_test_hidden.txt").read_bytes().decode() == "\n".join(
        ["rec_id,[labels]", *expected, ""]
    )
    heard = {int(label) for label in texts[judged].split(",") if label}
    answers = pd.read_csv(private / "answers.csv")
    assert answers["Id"].tolist() == [judged * 100 + k for k in range(19)]
    assert answers["Probability"].tolist() == [int(k in heard) for k in range(19)]
    assert (essential / "rec_id2filename.txt").read_text() == "rec_id,filename\n0,r0\n1,r1\n2,r2\n3,r4\n4,r5\n5,r6\n"
    header = "rec_id,[histogram of segment features]\n"
    histogram = (supplemental / "histogram_of_segments.txt").read_bytes().decode()
    assert histogram == header + "0,0.50,1e-3\n2,7\n1,\n3,9\n"
    assert (supplemental / "segment_rectangles.txt").read_text() == header + "2,0,1,2\n2,1,3,4\n"
    assert (supplemental / "segment_features.txt").read_text() == header
    assert (essential / "species_list.txt").read_bytes() == b"x\r\n"
    assert not (essential / "src_wavs" / "r3.wav").exists()
    assert [p.name for p in (supplemental / "segmentation_examples").iterdir()] == ["r1.bmp"]
    assert (supplemental / "spectrograms" / "r6.bmp").read_bytes() == b"spectrograms r6"


FOLDS = [0] * 5
LABELS = b"h\n" + b"".join(b"%d,1\n" % i for i in range(5))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("essential_data/src_wavs/r2.wav", None, r"r2\.wav"),
        ("essential_data/rec_id2filename.txt", b"rec_id,filename\n0,r0\n1,r1\n3,r3\n4,r4\n", "names 4 of 5"),
        ("essential_data/rec_labels_test_hidden.txt", b"h\n0,1\n\n1,1\n", "line 3"),
        ("supplemental_data/segment_features.txt", b"h\n0,0,1\nx,1\n", "line 3: begins with 'x'"),
    ],
)
def test_what_is_missing_or_damaged_is_located(
    trial: Trial, tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    raw = raw_of(tmp_path / "raw", LABELS, FOLDS)
    with zipfile.ZipFile(raw / f"{TOP}.zip") as archive, ZipWriter(raw / "other.zip") as other:
        for member in archive.infolist():
            if member.filename != f"{TOP}/{name}":
                other.move(archive, member, member.filename)
        if content is not None:
            other.add(f"{TOP}/{name}", content)
    (raw / "other.zip").rename(raw / f"{TOP}.zip")
    trial.refuses_raw(raw, said)
