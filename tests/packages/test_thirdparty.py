"""A package from outside of the workspace: installed from its wheel, found, and put through the kit."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

ACME = Path(__file__).parent / "acme-mle-plugins"
CLI = "from mlecore.cli import main; main()"


@pytest.fixture(autouse=True)
def installed(install: Callable[[Path], None], tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "acme"
    shutil.copytree(ACME, copy)  # building may leave files behind
    install(copy)


def test_one_distribution_brings_several_plugins(run: Run) -> None:
    listed = json.loads(run("-c", CLI, "plugins", "list", "--json").stdout)
    acme = [plugin for plugin in listed if plugin["distribution"] == "acme-mle-plugins"]
    assert [(plugin["kind"], plugin["name"], plugin["version"], plugin["state"]) for plugin in acme] == [
        ("competition", "acme-parcels", "2.3", "ok"),
        ("agent", "acme-distance", "2.3", "ok"),
    ]


@pytest.mark.slow
def test_its_own_tests_put_it_through_the_kit(run: Run) -> None:
    tested = run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(ACME))
    assert tested.returncode == 0, tested.stdout
    assert tested.stdout.startswith(".."), tested.stdout  # the competition and the agent
