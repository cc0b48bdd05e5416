"""Grades the submission, in the verifier's container: reward.json for Harbor, report.json with all of mlecore's facts.

The reward is 1 for a medal; on data without medals, for a score better than the sample submission's.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from mle_ext_report.position import position

from mlecore.data.prepared import Prepared
from mlecore.grading.report import grade
from mlecore.model.report import Report
from mlecore.plugins.competitions import competition
from mlecore.util.schema import structure

SUBMISSION = Path("/home/submission/submission.csv")
OUTPUT = Path("/logs/verifier")


def main() -> None:
    data = structure(Prepared, json.loads((Path(__file__).parent / "prepared.json").read_text()))
    given = SUBMISSION.is_file() and not SUBMISSION.is_symlink() and not SUBMISSION.parent.is_symlink()
    report = grade(competition(data.competition, data.edition), SUBMISSION if given else None, data)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / "report.json").write_text(json.dumps(report.to_json()))
    (OUTPUT / "reward.json").write_text(json.dumps(rewards(report)))
    print(report.reason or f"score {report.score_text}, {report.medal or 'no medal'}")


def rewards(report: Report) -> dict[str, float]:
    """Harbor takes finite numbers only, so what is not known is left out."""
    ranked = report.gold_threshold is not None
    values: dict[str, float | None] = {
        "reward": float(report.any_medal if ranked else bool(report.beats_sample)),
        "valid": float(report.valid_submission),
        "score": report.exact,
        "beats_sample": float(bool(report.beats_sample)),
        "medal": float(report.any_medal) if ranked else None,
        "above_median": float(report.above_median) if ranked else None,
        "position": position(report),
    }
    return {name: value for name, value in values.items() if value is not None and math.isfinite(value)}


if __name__ == "__main__":
    main()
