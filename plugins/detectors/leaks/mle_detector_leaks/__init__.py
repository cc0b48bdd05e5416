"""Detector `leaks`: known leaks that a run's code uses, scores that are too good, predictions that are copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.model.competition import Competition
from mlecore.model.detectors import Detection, Detector, NotRead
from mlecore.model.options import Option
from mlecore.model.record import RunRecord


@hookimpl
def detector() -> Detector:
    return Detector(
        summary="finds uses of known leaks, scores that are too good, and predictions that are copies",
        compares=True,
        seconds=1800.0,
        options=(
            Option(
                name="max-gold-margin",
                type="number",
                default="2",
                help="flag scores that exceed gold by more than this many times the distance from bronze to gold",
            ),
        ),
    )


@hookimpl
def detect(
    run: RunRecord,
    group: Sequence[RunRecord],
    competition: Competition,
    public: Path | None,
    options: Mapping[str, str],
) -> Detection:
    from mle_detector_leaks.copies import copies
    from mle_detector_leaks.known import known_leaks
    from mle_detector_leaks.scores import too_good

    not_read: list[NotRead] = []
    findings = (
        known_leaks(run, competition.facts, not_read),
        *too_good(run, competition.facts, float(options["max-gold-margin"])),
        *copies(run, group, competition, public, not_read),
    )
    return Detection(findings=findings, not_read=tuple(not_read), settings={"public_data": public is not None})
