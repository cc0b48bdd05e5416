"""A detector for tests: flags submissions that another run made too, and does what its options say."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.model.competition import Competition
from mlecore.model.detectors import Detection, Detector, Evidence, Finding, NotRead, Verdict
from mlecore.model.options import Option
from mlecore.model.record import RunRecord

SUBMISSION = "submission/submission.csv"


@hookimpl
def detector() -> Detector:
    return Detector(
        summary="flags submissions that another run made too",
        compares=True,
        seconds=60.0,
        options=(
            Option(name="how", default="well", help="how it behaves"),
            Option(name="answers", default="", help="the folder at which it peeks"),
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
    if options["how"] == "eats":
        bytearray(2**31)
    if options["how"] == "peeks":
        return Detection(findings=(), settings={"could": could(run.folder, Path(options["answers"]))})
    if options["how"] in ("notes", "undecided"):
        verdict: Verdict = "note" if options["how"] == "notes" else "undecided"
        return Detection(findings=(Finding(rule="copied", verdict=verdict, summary="it looked at it"),))
    if options["how"] == "skips":
        clean = Finding(rule="copied", verdict="clean", summary="nothing in what was read")
        return Detection(findings=(clean,), not_read=(NotRead(file="code/a.py", why="it has 5 GB"),))
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


def could(run: Path, answers: Path) -> list[str]:
    """What a detector has no business with, and could do."""
    tried: dict[str, Callable[[], object]] = {
        "open answers": lambda: next(answers.iterdir()).read_bytes(),
        "open answers by another process": lambda: next(Path(f"/proc/{os.getppid()}/root{answers}").iterdir()),
        "open raw data": lambda: next((answers.parents[1] / "raw").iterdir()),
        "change public data": lambda: (answers.parent / "public" / "more").touch(),
        "change a run": lambda: (run / "more").touch(),
        "open public data": lambda: next((answers.parent / "public").iterdir()).read_bytes(),
        "open a run": lambda: (run / SUBMISSION).read_bytes(),
        "open temporary files": lambda: Path(tempfile.mkdtemp()).rmdir(),
    }
    done = []
    for what, action in tried.items():
        try:
            action()
        except (OSError, StopIteration):
            continue
        done.append(what)
    return done
