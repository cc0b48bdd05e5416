"""Both images of a task, built by the engine that is here: nothing of the answers is in one, and the other grades."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import mlecore
from mlecore.cli import main
from mlecore.data.prepared import Prepared
from mlecore.errors import BackendError
from mlecore.model.agents import Recipe
from mlecore_sandboxes.containers import images
from mlecore_sandboxes.containers.engine import Engine
from mlecore_sandboxes.containers.settings import BASE, ImageSettings

pytestmark = [  # in one worker: images are named by content, and their fixture removes them
    pytest.mark.docker,
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.xdist_group("harbor-images"),
]

ID = "spaceship-titanic"
BUILD = Path(__file__).parents[4] / "scripts" / "build.py"
OURS = ("mlecore", "mlecore-toolkit", "mlecore-jobs", "mle-ext-report", f"mle-comp-{ID}")
NEEDED = (
    "attrs cattrs click filelock lazy-loader numpy packaging pandas platformdirs pluggy polars scikit-learn tomli-w"
)
PLACES = ("site-packages", "dist-packages")  # where Python looks in the image on Docker Hub, and in Debian's


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine()
    try:
        if engine.image(BASE) is None:
            pytest.skip(f"the engine has no image {BASE}")
    except BackendError as error:
        pytest.skip(f"no Docker engine: {error.message}")
    return engine


@pytest.fixture(scope="module")
def with_mlecore(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An image with this repository's packages, which no index has."""
    folder = tmp_path_factory.mktemp("wheels")
    subprocess.run([sys.executable, BUILD, "--wheel", "--out", folder, *OURS], check=True)
    files = {}
    for path in folder.glob("*.whl"):
        with zipfile.ZipFile(path) as wheel:
            for name in wheel.namelist():
                files |= {f"/usr/local/lib/python3.11/{place}/{name}": wheel.read(name) for place in PLACES}
    needed = Recipe(pip=tuple(f"{name}=={version(name)}" for name in NEEDED.split()))
    below = images.build(engine, ImageSettings(), needed, folder / "log").ref  # stays: it is the same next time
    files = {path: content for path, content in files.items() if not path.endswith("/")}
    built = images.build(engine, ImageSettings(), Recipe(base=below, files=files), folder / "log").ref
    yield built
    engine.api.remove_image(built, force=True)


@pytest.fixture(scope="module")
def task(engine: Engine, with_mlecore: str, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    out = tmp_path_factory.mktemp("export") / "tasks"
    name = f"mlecore-test-{out.parent.parent.name}".lower()
    options = ["--delivery", "image", "--repository", name, "--reward", "position", "--verifier-image", with_mlecore]
    done = CliRunner().invoke(
        main, ["export", "harbor", ID, "--synthetic", "--data", str(data), "--out", str(out), *options]
    )
    assert done.exit_code == 0, done.output
    yield out / ID
    for image in engine.api.images():
        for tag in image["RepoTags"] or ():
            if tag.startswith(f"{name}/"):
                engine.api.remove_image(tag)


def images_of(task: Path) -> tuple[str, str]:
    config = tomllib.loads((task / "task.toml").read_text())
    return config["environment"]["docker_image"], config["verifier"]["environment"]["docker_image"]


def test_the_agents_image_has_the_data_and_no_answer(
    engine: Engine, task: Path, prepared: Prepared, tmp_path: Path
) -> None:
    public = b"".join(path.read_bytes() for path in prepared.public.glob("*.csv")).splitlines()
    answers = set((prepared.private / "test.csv").read_bytes().splitlines()) - set(public)
    container = engine.api.create_container(images_of(task)[0], ["true"])["Id"]
    with (tmp_path / "all.tar").open("wb") as file:
        file.writelines(engine.api.export(container))
    engine.api.remove_container(container)
    names, found, leaks = set(), set(), []
    with tarfile.open(tmp_path / "all.tar") as tar:
        for member in tar:
            names.add(member.name)
            if member.isfile() and (content := tar.extractfile(member)):
                lines = set(content.read().splitlines())
                found |= lines & set(public)
                leaks += [member.name] * bool(lines & answers)
    assert answers and found == set(public)
    assert {"home/data/train.csv", "home/submission", "home/instructions.txt", "opt/mlecore/validate"} <= names
    assert not leaks


def verified(engine: Engine, image: str, submission: Path | None, prepare: str = "") -> tuple[int, dict[str, Any]]:
    """The exit status of the verifier, and the rewards that it wrote."""
    script = f"mkdir -p /home/submission; cp /given/* /home/submission/; {prepare}\nbash /tests/test.sh >&2; exit=$?\n"
    script += "cat /logs/verifier/reward.json; exit $exit"
    mount = ["-v", f"{submission}:/given/submission.csv:ro"] if submission else []
    command = ["docker", "run", "--rm", "--network", "none", *mount, image, "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout or "{}")


def test_the_verifiers_image_rewards_as_mlecore_grades(
    engine: Engine, task: Path, prepared: Prepared, tmp_path: Path
) -> None:
    image = images_of(task)[1]
    target = mlecore.competition(ID)
    best, sample = tmp_path / "best.csv", prepared.public / "sample_submission.csv"
    target.perfect(prepared.private).to_csv(best, index=False)
    assert verified(engine, image, best) == (0, {"reward": 1.0, "valid": 1.0, "score": 1.0, "beats_sample": 1.0})
    score = mlecore.grade(target, sample, prepared).exact
    assert verified(engine, image, sample) == (0, {"reward": 0.0, "valid": 1.0, "score": score, "beats_sample": 0.0})
    nothing = {"reward": 0.0, "valid": 0.0, "beats_sample": 0.0}
    path = "/home/submission/submission.csv"
    for prepare in (
        "",
        f"mkdir {path}",
        f"ln -s /mlecore/prepared/private/test.csv {path}",
        f"mkfifo {path}",
        f"truncate -s 1G {path}",
        "rm -r /home/submission; ln -s /mnt /home/submission; cp /mlecore/prepared/private/*.csv /mnt/submission.csv",
    ):
        assert verified(engine, image, None, prepare) == (0, nothing), prepare
    assert verified(engine, image, best, "rm /mlecore/prepared/private/test.csv") == (1, {})
