"""Labels that the training data do not have are a warning, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore import competition
from mlecore_toolkit.submissions.check import unknown_labels
from mlecore_toolkit.submissions.format import Format
from mlecore_toolkit.submissions.table import Table

TRAIN = "id,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(["cat", "dog"] * 10))
COUNTS = "id,y\n" + "".join(f"{i},{i}\n" for i in range(20))
LISTS = "id,y\n" + "".join(f"{i},{labels}\n" for i, labels in enumerate(["cat", "cat dog", ""] * 10))


def warnings(tmp_path: Path, train: str, submission: str, sample: str, kind: str) -> list[str]:
    format = Format.parse({"id": "id", "columns": {"y": {"type": kind}}})
    paths = [tmp_path / name for name in ("train.csv", "submission.csv", "sample.csv")]
    for path, text in zip(paths, (train, submission, sample), strict=True):
        path.write_text(text)
    return unknown_labels(format, Table(paths[1]), Table(paths[2]), paths[:1])


@pytest.mark.parametrize(
    ("train", "submission", "sample", "kind", "expected"),
    [
        (
            TRAIN,
            "id,y\na,dog\nb,Cat\nc,cow\n",
            "id,y\na,cat\n",
            "text",
            "2 labels not in the training data: 'Cat', 'cow'",
        ),
        (TRAIN, "id,y\na,dog\nb,cat\n", "id,y\na,cat\n", "text", None),
        (TRAIN, "id,y\na,none\n", "id,y\na,none\n", "text", None),  # the sample has it
        (LISTS, "id,y\na,dog cat\nb,cow dog\n", "id,y\na,cat\n", "text", "1 label not in the training data: 'cow'"),
        (TRAIN.replace("cat", "1").replace("dog", "2"), "id,y\na,1.0\nb,3\n", "id,y\na,1\n", "label", "data: '3'"),
        (TRAIN.replace("cat", "True").replace("dog", "False"), "id,y\na,1\nb,0\n", "id,y\na,1\n", "label", None),
        (COUNTS, "id,y\na,77\n", "id,y\na,1\n", "label", None),  # numbers, not classes
        (TRAIN.replace("y", "z"), "id,y\na,cow\n", "id,y\na,cat\n", "text", None),
        (TRAIN.replace("cat", "1").replace("dog", "2"), "id,y\na,0.5\n", "id,y\na,1\n", "number", None),
    ],
)
def test_labels_are_compared_with_those_of_the_training_data(
    tmp_path: Path, train: str, submission: str, sample: str, kind: str, expected: str | None
) -> None:
    said = warnings(tmp_path, train, submission, sample, kind)
    assert len(said) == (expected is not None), said
    assert all(expected in line for line in said if expected)


def test_check_warns_by_the_public_tables_but_not_the_sample(tmp_path: Path) -> None:
    public = tmp_path / "public"
    public.mkdir()
    (public / "train.csv").write_text("id,digit\n" + "".join(f"{i},{i % 9}\n" for i in range(90)))
    sample = "id,digit\n" + "".join(f"{i},0\n" for i in range(20))
    (public / "sample_submission.csv").write_text(sample)
    digits = competition("optical-digits")
    submission = tmp_path / "submission.csv"
    submission.write_text(sample)
    assert digits.check(submission, public) == []
    submission.write_text(sample.replace("3,0", "3,9"))
    (said,) = digits.check(submission, public)
    assert said == "column 'digit' has 1 label not in the training data: '9'"
