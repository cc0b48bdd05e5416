"""The commands of leaderboards, and signatures on what is on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from mle_ext_sharing.bundle import open_bundle
from mle_ext_sharing.signed import add_signature
from mle_ext_sharing.statement import Comparison

from mlecore.cli import main

COMPETITIONS = ("leaf-classification", "spaceship-titanic", "aerial-cactus-identification")


def call(*words: object) -> Result:
    return CliRunner().invoke(main, ["leaderboard", *map(str, words)])


def check(board: Path, *words: object) -> tuple[int, str]:
    """The exit code and the output of `leaderboard check`."""
    done = call("check", *words, "--board", board)
    assert "Traceback" not in done.output
    return done.exit_code, done.output


def build(board: Path) -> Path:
    """The site."""
    site = board.parent / "site"
    done = call("build", "--board", board, "--to", site)
    assert done.exit_code == 0, done.output
    return site


def shown(board: Path) -> dict[str, Any]:
    """The tables and entries of the site."""
    values: dict[str, Any] = json.loads((build(board) / "leaderboard.json").read_text())
    return values


def ranked(board: Path) -> set[str]:
    return {entry["name"] for entry in shown(board)["entries"] if entry["ranked"]}


def sign_as(export: Path, key: Path, *more: Any) -> Path:
    """As one who ran it, unless ``more`` says what else the signer did, and with which result."""
    with open_bundle(export) as opened:
        add_signature(export, opened.group, key, *more)
    return export


def sign_again(export: Path, key: Path) -> None:
    sign_as(export, key, "ran again", Comparison(runs=1, group_uid="x", same_medal=1))
