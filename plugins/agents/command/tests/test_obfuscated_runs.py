"""An obfuscated run, hunted from inside for the competition's names: variables, processes, mounts, folders, files."""

from __future__ import annotations

from pathlib import Path

import pytest

import mlecore
from mlecore.data import DataDirs
from mlecore.data.preparing import prepare
from mlecore.data.sources import Synthetic
from mlecore.runs.record import Obfuscation

ID = "playground-series-s3e18"  # its data have no word of its title
WORDS = (b"playground", b"s3e18", b"enzyme", b"substrate", b"explore multi", b"kaggle", b"medal", b"leaderboard")
HUNT = """\
{ env; hostname; cat /proc/self/mountinfo /proc/mounts /etc/hosts /etc/passwd
  for p in /proc/[0-9]*; do cat $p/cmdline $p/environ $p/cgroup; done
  find / -xdev -not -path '/proc/*' -not -path '/sys/*' -not -path '/usr/*'
  find /home /opt/mlecore /tmp -type f -not -name seen -exec cat {} +; } >logs/seen 2>/dev/null
cp /opt/mlecore/sample.csv submission/submission.csv
./validate_submission.sh submission/submission.csv >logs/validate 2>&1
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "obfuscate"),
    [
        pytest.param("vm", "description", marks=pytest.mark.sandbox),
        pytest.param("vm", "full", marks=pytest.mark.sandbox),
        pytest.param("docker", "description", marks=pytest.mark.docker),
    ],
)
def test_nothing_inside_tells_which_competition_it_is(
    backend: str, obfuscate: Obfuscation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hunt.sh").write_text(HUNT)
    prepare(mlecore.competition(ID), DataDirs.of([tmp_path / "data"]), Synthetic(size=0.1))
    (record,) = mlecore.run(
        agent="command",
        options={"argv": "sh hunt.sh", "files": "hunt.sh"},
        competition=ID,
        synthetic=True,
        obfuscate=obfuscate,
        backend=backend,
        time_limit="15m",
        detect=False,
        data=tmp_path / "data",
        runs=tmp_path / "runs",
    )
    seen = (record.folder / "logs" / "seen").read_bytes()
    validated = (record.folder / "logs" / "validate").read_bytes()
    assert b"COMPETITION_ID=task-" in seen and b"/obfuscated/task-" in seen  # it looked, and mounts show paths
    assert b"# Two labels from numbers" in seen
    for word in WORDS:
        at = seen.lower().find(word)
        assert at < 0, seen[max(0, at - 100) : at + 100]
    assert record.report is not None and record.report.valid_submission
    assert record.obfuscation == obfuscate
    assert record.submission is not None
    assert record.submission.read_text().startswith("id,EC1,EC2\n")  # what is graded and kept has the real names
    as_written = record.folder / "attempts" / "1" / "result" / "submission" / "submission.csv"
    if obfuscate == "full":
        assert b"EC1" not in seen and b"BertzCT" not in seen and b"well-formed" in validated
        assert not as_written.read_text().startswith("id,")
