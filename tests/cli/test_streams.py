"""Output never fails by its encoding, or because it is closed or full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PRINTS = """
import click, sys
from mlecore.cli import main
@click.command("prints")
def prints():
    click.echo("\\u2191 \\U0001f600 \\udcff \\xe9 " * 20_000)
    print("\\u2191", sys.stdout.isatty())
    print("\\u2191 told", file=sys.stderr)
main.get_command = lambda context, name: prints
main(["prints"])
"""


def run(redirect: str = "", **variables: str) -> subprocess.CompletedProcess[bytes]:
    """The command line, by a shell that redirects its output."""
    argv = ["bash", "-c", f'set -o pipefail; "$0" -c "$1" {redirect}', sys.executable, PRINTS]
    return subprocess.run(argv, env={**os.environ, **variables}, capture_output=True, check=False)


@pytest.mark.parametrize("encoding", ["latin-1", "ascii:strict", "cp1252"])
def test_what_an_encoding_does_not_have_is_spelled_out(encoding: str) -> None:
    done = run(PYTHONIOENCODING=encoding)
    assert done.returncode == 0 and b"told" in done.stderr and b"Traceback" not in done.stderr
    if encoding != "ascii:strict":  # which click takes for a mistake
        assert done.stdout.startswith(b"\\u2191 \\U0001f600 \\udcff \xe9 ")


def test_a_locale_without_utf_8_is_no_obstacle() -> None:
    done = run(LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert done.returncode == 0 and b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
@pytest.mark.parametrize(
    ("redirect", "code", "told"),
    [
        (">&-", 0, True),
        ("<&- >&- 2>&-", 0, False),
        ("| head -c 1", 1, False),
        (">/dev/full", 3, True),
    ],
)
def test_a_closed_or_full_stream_ends_it_quietly(redirect: str, code: int, told: bool) -> None:
    done = run(redirect)
    assert done.returncode == code and b"Traceback" not in done.stderr and b"Exception" not in done.stderr
    assert bool(done.stderr) == told
