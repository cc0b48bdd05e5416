"""Entry points: damaged files are borne, the first of a name counts, commands of plugins are found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.plugins import entry_points
from mlecore_testing.site_packages import forget

INFO = "thing-1.0.dist-info"


def make(site: Path, text: str, folder: str = INFO, metadata: str = "Name: thing\nVersion: 1.0\n") -> None:
    (site / folder).mkdir()
    (site / folder / "entry_points.txt").write_text(text)
    (site / folder / "METADATA").write_text(metadata)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(tmp_path)])
        yield tmp_path
    forget()


def read() -> list[tuple[str, str, str]]:
    forget()
    return [(str(point.kind), point.name, point.value) for point in entry_points.points()]


def test_damaged_files_affect_no_other_plugin(site: Path) -> None:
    make(site, "[mlecore.agents]\none = a\n")
    make(site, "", "empty-1.0.dist-info")
    (site / "binary-1.0.dist-info").mkdir()
    (site / "binary-1.0.dist-info" / "entry_points.txt").write_bytes(b"[mlecore.agents]\n\xff\xfe = \x00\n")
    (site / "file-1.0.dist-info").touch()
    assert ("agent", "one", "a") in read()


def test_the_first_of_a_name_counts(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = site / "later"
    later.mkdir()
    monkeypatch.setattr(sys, "path", [str(site), str(later), "no such folder", str(site)])
    make(site, "[mlecore.agents]\none = first\n", "My_Thing-2.0.dist-info")
    make(later, "[mlecore.agents]\none = second\n", "my.thing-1.0.dist-info")
    assert read() == [("agent", "one", "first")]


def test_a_command_of_a_plugin_is_imported_when_it_is_named(tmp_path: Path) -> None:
    metadata = "Name: thing\nSummary: Shouts in your name\n"
    make(tmp_path, "[mlecore.commands]\nshout = shouting:verbs.shout\n", metadata=metadata)
    (tmp_path / "shouting.py").write_text(
        "import click\nprint('imported')\n\n\nclass verbs:\n"
        "    @click.command()\n    def shout():\n        '''Shout.'''\n        click.echo('HEY')\n"
    )

    make(
        tmp_path,
        "[mlecore.commands]\ngone = nowhere:verb\nodd = sys:path\nleft = leaving:verb\n",
        "broken-1.0.dist-info",
        "Name: broken\n",
    )
    (tmp_path / "leaving.py").write_text("raise SystemExit(0)\n")

    def mlecore(*words: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-c", "from mlecore.cli import main; main()", *words],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    helped = mlecore("--help")
    assert "Shouts in your name." in helped and "Provided by broken." in helped
    assert "imported" not in helped
    assert mlecore("shout") == "imported\nHEY\n"
    told = mlecore("gone", code=3)
    assert "the command gone of broken cannot be used" in told and "nowhere" in told and "Traceback" not in told
    assert "sys:path is not a click command" in mlecore("odd", code=3)
    assert "the command left of broken cannot be used: SystemExit: 0" in mlecore("left", code=3)


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("view", "mle-ext-view"),
        ("audit", "mlecore-audit"),
        ("runs export", "mle-ext-sharing"),
        ("viewer", None),
    ],
)
def test_a_command_that_is_not_installed_comes_with_its_package(
    name: str, package: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_points, "commands", dict)
    done = CliRunner().invoke(main, name.split())
    assert done.exit_code == 2
    assert re.findall(r"pip install (\S+)", done.output) == ([package] if package else [])
    assert ("Did you mean view?" in done.output) == (package is None)
