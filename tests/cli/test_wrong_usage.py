"""Wrong commands end with exit code 2 and what to do; an interrupt ends any of them with 130."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.registry import discovery

RUN = "run --agent dummy --competition optical-digits --dry-run"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("MLECORE_DATA", "MLECORE_RUNS"):
        monkeypatch.setenv(name, str(tmp_path / name))
    (tmp_path / "s.csv").write_text("id,digit\n")
    (tmp_path / "empty").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (f"{RUN} --time-limit 24", "24h, 24m or 24s"),
        (f"{RUN} --seed -1", "from 0 to"),
        ("prepare spaceship-titanic --synthetic --seed -1", "from 0 to"),
        ("prepare spaceship-titanic --synthetic --size nan", "above 0"),
        ("grade optical-digits s.csv", "mlecore grade s.csv optical-digits"),
        ("check optical-digits s.csv", "mlecore check s.csv optical-digits"),
    ],
)
def test_wrong_usage(words: str, told: str) -> None:
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit) and told in done.output


def test_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(discovery, "plugins", interrupted)
    done = CliRunner().invoke(main, ["plugins", "list"])
    assert done.exit_code == 130 and re.fullmatch(r"Interrupted\.\n", done.output)
