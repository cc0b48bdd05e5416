"""Grades the submission, in the verifier's container: reward.json for Harbor, report.json with all of mlecore's facts.

Ends with an error, and without a reward, for what is not the submission's fault.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mle_ext_report.position import position
from reward import reward  # type: ignore[import-not-found]  # mle_ext_harbor/reward.py, which is copied beside this

from mlecore.data.prepared import Prepared
from mlecore.errors import MlecoreError
from mlecore.grading.isolated import IsolatedGrader
from mlecore.model.report import Report
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
    (OUTPUT / "reward.json").write_text(json.dumps(rewards(report, json.loads((here / "settings.json").read_text()))))
    print(report.reason or f"score {report.score_text}, {report.medal or 'no medal'}")


def rewards(report: Report, settings: Mapping[str, Any]) -> dict[str, float]:
    """Harbor takes finite numbers only, so what is not known is left out."""
    ranked = report.gold_threshold is not None
    values: dict[str, float | None] = {
        "reward": reward(report, settings["reward"], settings["best"]),
        "valid": float(report.valid_submission),
        "score": report.exact,
        "beats_sample": float(bool(report.beats_sample)),
        "medal": float(report.any_medal) if ranked else None,
        "above_median": float(report.above_median) if ranked else None,
        "position": position(report),
        "percentile": report.percentile,
    }
    return {name: value for name, value in values.items() if value is not None and math.isfinite(value)}


if __name__ == "__main__":
    main()
