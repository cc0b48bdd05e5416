"""Grades the submission, in the verifier's container: reward.json for Harbor, report.json with all of mlecore's facts.

Ends with an error, and without a reward, for what is not the submission's fault.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from reward import metrics, reward  # type: ignore[import-not-found]  # mle_ext_harbor/reward.py, which is copied beside this

from mlecore.data.prepared import Prepared
from mlecore.errors import MlecoreError
from mlecore.grading.isolated import IsolatedGrader
from mlecore.plugins.competitions import competition
from mlecore.util.schema import structure

SUBMISSION = Path("/home/submission/submission.csv")
OUTPUT = Path("/logs/verifier")


def main() -> None:
    here = Path(__file__).parent
    data = structure(Prepared, json.loads((here / "prepared.json").read_text()))
    submission = None if SUBMISSION.parent.is_symlink() else SUBMISSION
    try:
        with IsolatedGrader() as grader:
            report = grader.grade(competition(data.competition, data.edition), submission, data)
    except MlecoreError as error:
        sys.exit(f"error: {error}")
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / "report.json").write_text(json.dumps(report.to_json()))
    settings = json.loads((here / "settings.json").read_text())
    values = {"reward": reward(report, settings["reward"], settings["best"]), **metrics(report)}
    (OUTPUT / "reward.json").write_text(json.dumps(values))
    print(report.reason or f"score {report.score_text}, {report.medal or 'no medal'}")


if __name__ == "__main__":
    main()
