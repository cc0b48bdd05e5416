"""Edition v2: split by patient, and all eleven labels are graded."""

from __future__ import annotations

from pathlib import Path

import mle_comp_ranzcr_clip_catheter_line_classification as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure_columns, mean_roc_auc, read_csv, split_whole_groups

PATIENT = "PatientID"
TEST_SHARE = 0.1  # of the X-rays, as in v1


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv")
    ensure_columns(table, [v1.ID, *v1.LABELS, PATIENT], "train.csv")
    parts = split_whole_groups(table[PATIENT].tolist(), test_size=TEST_SHARE)
    train, test = (table.iloc[part] for part in parts)
    v1.write_parts(raw, public, private, train, test, v1.LABELS)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv", v1.LABELS)
    return mean_roc_auc(truth[v1.LABELS], predictions[v1.LABELS])
