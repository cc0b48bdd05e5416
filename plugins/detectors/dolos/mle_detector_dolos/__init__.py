"""Detector `dolos`: code of runs that resembles public notebooks, or other runs, too much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.model.competition import Competition
from mlecore.model.detectors import Detection, Detector
from mlecore.model.options import Option
from mlecore.model.record import RunRecord
from mlecore.util.child_environment import NPM, PROXIES


@hookimpl
def detector() -> Detector:
    return Detector(
        summary="finds code that was copied from public notebooks, with Dolos",
        programs=("node",),
        variables=("KAGGLE_*", *NPM, "MLECORE_DOLOS", *PROXIES),  # it fetches notebooks and installs Dolos
        compares=True,
        seconds=3600.0,  # the first one installs Dolos and fetches notebooks
        options=(
            Option(name="threshold", type="number", default="0.6", help="similarity from 0 to 1 that flags a run"),
            Option(name="notebooks", type="integer", default="50", help="public notebooks to fetch, most votes first"),
            Option(name="references", help="folder of your own .py and .ipynb files instead"),
            Option(name="runs", type="boolean", default="false", help="also compare runs with each other"),
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
    from mle_detector_dolos.judging import judge

    return judge(run, group, competition, public, options)
