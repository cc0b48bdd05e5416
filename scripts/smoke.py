"""What an installed mlecore must do on every system: prepare, check, grade and report. CI runs it on wheels.

Needs `mlecore` and `mle-comp-spaceship-titanic`, neither a sandbox nor an account.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory


def main() -> None:
    """Ends with the exit code of the first command that fails."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        data = ["--data", str(folder / "data")]
        mlecore(folder, "prepare", "optical-digits", *data)
        mlecore(folder, "prepare", "spaceship-titanic", "--synthetic", *data)
        for competition, options in (("optical-digits", []), ("spaceship-titanic", ["--synthetic"])):
            (sample,) = (folder / "data" / competition).rglob("public/sample_submission.csv")
            mlecore(folder, "check", str(sample), competition, *options, *data)
            mlecore(folder, "grade", str(sample), competition, *options, *data)
        reports = folder / "submissions.jsonl"
        line = f'{{"competition_id": "optical-digits", "submission_path": "{sample_of(folder).as_posix()}"}}\n'
        reports.write_text(line, encoding="utf-8")
        mlecore(folder, "grade", "--jsonl", str(reports), "--output", str(folder / "grading_report.json"), *data)
        mlecore(folder, "report", "--grading-reports", str(folder / "grading_report.json"))


def sample_of(folder: Path) -> Path:
    """The sample submission of `optical-digits`."""
    return next((folder / "data" / "optical-digits").rglob("public/sample_submission.csv"))


def mlecore(folder: Path, *words: str) -> None:
    """Run a command there, and show it."""
    print("$ mlecore", *words, flush=True)
    done = subprocess.run([sys.executable, "-m", "mlecore.cli", *words], cwd=folder, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
