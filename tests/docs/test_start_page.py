"""The agent of docs/start.md earns the score that the page promises."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import mlecore
from mlecore.util.child_environment import child_environment

PAGE = (Path(__file__).parents[2] / "docs" / "start.md").read_text(encoding="utf-8")


def test_the_agent_that_it_shows(tmp_path: Path) -> None:
    (script,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    command = [sys.executable, "-m", "mlecore.cli", "prepare", "optical-digits", "--data", str(tmp_path / "prepared")]
    subprocess.run(command, env=child_environment(), check=True)
    digits = mlecore.competition("optical-digits")
    data = mlecore.open_data(digits, tmp_path / "prepared")
    shutil.copytree(data.public, tmp_path / "data")
    (tmp_path / "submission").mkdir()
    (tmp_path / "my_agent.py").write_text(script)
    subprocess.run([sys.executable, "my_agent.py"], cwd=tmp_path, env=child_environment(), check=True)
    score = mlecore.grade(digits, tmp_path / "submission" / "submission.csv", data).score
    assert score is not None and score > 0.95
