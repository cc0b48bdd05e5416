"""A detector for tests: flags submissions that another run made too, and does what its options say."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from mlecore.competitions import Competition
from mlecore.detectors import Detection, Detector, Evidence, Finding
from mlecore.hookspecs import hookimpl
from mlecore.options import Option
from mlecore.runs.record import RunRecord

SUBMISSION = "submission/submission.csv"


@hookimpl
def detector() -> Detector:
    return Detector(
        summary="flags submissions that another run made too",
        compares=True,
        seconds=60.0,
        options=(
            Option(name="how", default="well", help="how it behaves"),
            Option(name="log", default="", help="file that gets a line for each run that it judges"),
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
    if options["log"]:
        with Path(options["log"]).open("a") as log:
            log.write(f"{run.name} {len(group)}\n")
    if options["how"] == "raises":
        raise ValueError("a bug")
    if options["how"] == "dies":
        os._exit(7)
    if options["how"] == "hangs":
        time.sleep(600)
    if options["how"] == "nan":
        return Detection(findings=(), settings={"share": float("nan")})
    own = (run.folder / SUBMISSION).read_bytes()
    same = [o.name for o in group if o.uid != run.uid and (o.folder / SUBMISSION).read_bytes() == own]
    finding = Finding(
        rule="same-submission",
        verdict="suspicious" if same else "clean",
        summary=f"the same as {', '.join(same)}" if same else "nobody else made it",
        confidence=0.75,
        evidence=(Evidence(file=SUBMISSION, line=1, quote="id,"),),
        details={"competition": competition.id, "public": public is not None and (public / "sample.csv").is_file()},
    )
    return Detection(findings=(finding,), settings={"compared": len(group) - 1})
