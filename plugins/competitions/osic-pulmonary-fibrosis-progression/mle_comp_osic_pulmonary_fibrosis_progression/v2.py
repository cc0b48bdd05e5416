"""Edition v2: each patient and week exactly once, and the visit that is shown is not graded."""

from __future__ import annotations

from pathlib import Path

import mle_comp_osic_pulmonary_fibrosis_progression as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, read_answers


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The mean modified Laplace log likelihood of each patient's last three visits after the first."""
    answers = read_answers(private / "test.csv", ["Patient", "Patient_Week", "FVC"])
    truth, predictions = format.read(submission, answers)
    visits = v1.visits(answers)
    hidden = visits[visits.duplicated("Patient")]
    asked = hidden.groupby("Patient").tail(v1.LAST_VISITS)["Patient_Week"]
    graded = truth["Patient_Week"].isin(asked)
    return v1.likelihood(truth["FVC"][graded], predictions[graded])
