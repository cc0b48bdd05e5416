"""Competition `coins`: say which side ten coins fell on. As small as a competition can be."""

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit.submissions.table import Table

ANSWERS = [1, 0, 1, 1, 0, 0, 1, 0, 1, 1]


@hookimpl
def fetch(raw: Path) -> None:
    rows = "".join(f"{n},{side}\n" for n, side in enumerate(ANSWERS))
    (raw / "coins.csv").write_text("id,side\n" + rows)


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    (private / "answers.csv").write_bytes((raw / "coins.csv").read_bytes())
    (public / "sample.csv").write_text("id,side\n" + "".join(f"{n},1\n" for n in range(len(ANSWERS))))


@hookimpl
def grade(submission: Table, private: Path) -> float:
    from mlecore.errors import InvalidSubmission

    frame = submission.frame()
    if list(frame.columns) != ["id", "side"] or len(frame) != len(ANSWERS):
        raise InvalidSubmission("expected the columns id and side, and ten rows")
    answers = Table(private / "answers.csv").frame()
    return float((frame["side"] == answers["side"]).mean())
