"""A package from outside of the workspace: installed from its wheel, found, put through the kit, and graded."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

ACME = Path(__file__).parent / "acme-mle-plugins"
CLI = "from mlecore.cli import main; main()"
GRADE = """
import json, sys
from pathlib import Path
import mlecore
from mlecore.data import Prepared, manifest

acme = mlecore.competition("acme-parcels")
folder = Path(sys.argv[1])
acme.make_raw(folder / "raw")
acme.prepare(folder / "raw", folder / "public", folder / "private")
acme.perfect(folder / "private").to_csv(folder / "perfect.csv", index=False)
paths = (folder / "perfect.csv", folder / "public" / "sample.csv")
got = manifest.write(
    folder,
    manifest.entries(folder),
    competition=acme.id,
    edition="v1",
    plugin_version="2.3",
    source="fetch",
    verified=False,
    created_at="",
)
data = Prepared(competition=acme.id, root=folder, manifest=got)
print(json.dumps([acme.report(path, data).to_json() for path in paths]))
"""


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


def test_its_leaderboard_brings_medals(run: Run, tmp_path: Path) -> None:
    done = run("-c", GRADE, str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    best, sample = json.loads(done.stdout)
    scores = [
        float(line.split(",")[1]) for line in (ACME / "acme_mle/parcels/leaderboard.csv").read_text().splitlines()[1:]
    ]
    assert len(scores) == 120
    # 100 to 249 teams: gold for ten places, silver for 20 %, bronze for 40 %
    assert best["gold_threshold"] == sorted(scores)[9]
    assert best["silver_threshold"] == sorted(scores)[23]
    assert best["bronze_threshold"] == sorted(scores)[47]
    assert (best["score"], best["gold_medal"], best["above_median"]) == (0.0, True, True)
    assert (sample["any_medal"], sample["above_median"]) == (False, False)
