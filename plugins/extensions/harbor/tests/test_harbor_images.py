"""Images with the data inside, built by an engine that only takes down what it gets."""

from __future__ import annotations

import subprocess
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner, Result
from mle_ext_harbor.exporting import VERIFIER

from mlecore.cli import main
from mlecore.data.prepared import Prepared
from mlecore_sandboxes.containers import images
from mlecore_sandboxes.containers.engine import Engine

ID = "spaceship-titanic"


class Stream:
    """A build's context, as a file to read from."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.blocks, self.left = blocks, b""

    def read(self, size: int) -> bytes:
        while len(self.left) < size and (block := next(self.blocks, b"")):
            self.left += block
        taken, self.left = self.left[:size], self.left[size:]
        return taken


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, bytes]]:
    """What was built: name -> the files of its context."""
    found: dict[str, dict[str, bytes]] = {}

    def follow(engine: object, log: object, what: str, method: str, **given: Any) -> tuple[str, str]:
        with tarfile.open(fileobj=cast("Any", Stream(given["fileobj"])), mode="r|") as tar:
            found[given["tag"]] = {
                member.name: file.read() if (file := tar.extractfile(member)) else b"" for member in tar
            }
        return "", ""

    def image(engine: object, ref: str) -> dict[str, Any] | None:
        return {"Id": f"sha256:{ref}"} if ref in found or ref in ("base", "with-mlecore") else None

    monkeypatch.setattr(images, "follow", follow)
    monkeypatch.setattr(Engine, "image", image)
    return found


def export(out: Path, data: Path, *more: str) -> Result:
    arguments = ["export", "harbor", ID, "--synthetic", "--data", data, "--out", out, "--image", "base"]
    arguments += ["--verifier-image", "with-mlecore", *more]
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_each_side_has_an_image_of_its_own(
    data: Path, prepared: Prepared, built: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    more = ("--delivery", "image", "--repository", "registry.example/lab", "--reward", "position")
    done = export(tmp_path / "tasks", data, *more)
    assert done.exit_code == 0, done.output
    task = tmp_path / "tasks" / ID
    config = tomllib.loads((task / "task.toml").read_text())
    agent, verifier = config["environment"]["docker_image"], config["verifier"]["environment"]["docker_image"]
    assert agent.startswith(f"registry.example/lab/{ID}:")
    assert verifier.startswith(f"registry.example/lab/{ID}-verifier:")
    assert len(built) == 4  # each has the data in a stage of its own
    assert {path.name: path.read_text() for path in task.rglob("*ocker*")} == {"Dockerfile": f"FROM {agent}\n"}

    answers = (prepared.private / "test.csv").read_bytes()
    public = {name: content for name, content in built.items() if "-verifier:" not in name}
    shown = b"".join(content for files in public.values() for content in files.values())
    assert (prepared.public / "train.csv").read_bytes() in shown
    secret = [line for line in answers.splitlines()[1:] if line not in (prepared.public / "test.csv").read_bytes()]
    assert secret
    assert not [line for line in secret if line in shown.splitlines()]
    assert f"FROM {next(name for name in public if ':data-' in name)}\n".encode() in built[agent]["Dockerfile"]
    assert "files/home/submission" in built[agent]

    hidden = {name: files for name, files in built.items() if "-verifier:" in name}
    stage = next(files for name, files in hidden.items() if ":data-" in name)
    assert stage["files/mlecore/prepared/private/test.csv"] == answers
    assert "files/mlecore/prepared/public/train.csv" not in stage  # grading does not read it
    assert b'"position", "best": 1.0' in built[verifier]["files/tests/settings.json"]
    assert {"files/tests/test.sh", "files/tests/reward.py"} <= built[verifier].keys()

    built_before = dict(built)
    assert "building" not in export(tmp_path / "again", data, *more).output
    assert built == built_before
    assert (tmp_path / "again" / ID / "task.toml").read_bytes() == (task / "task.toml").read_bytes()


def test_without_a_verifier_nothing_has_answers(
    data: Path, prepared: Prepared, built: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    done = export(tmp_path / "tasks", data, "--delivery", "image", "--no-verifier")
    assert done.exit_code == 0, done.output
    assert len(built) == 2
    written = {path.name for path in (tmp_path / "tasks" / ID).rglob("*")}
    assert written == {"task.toml", "instruction.md", "environment", "Dockerfile"}
    assert export(tmp_path / "mounted", data, "--no-verifier").exit_code == 2


def test_names_of_images_need_images(data: Path, tmp_path: Path, built: dict[str, dict[str, bytes]]) -> None:
    assert export(tmp_path / "one", data, "--repository", "lab").exit_code == 2
    odd = export(tmp_path / "two", data, "--delivery", "image", "--repository", "https://lab")
    assert (odd.exit_code, "--repository ghcr.io/my-lab" in odd.output) == (2, True)
    assert not built


@pytest.mark.parametrize("limit", [("--cpus", "-1"), ("--gpus", "-1"), ("--memory", "16")])
def test_limits_that_no_run_can_have_are_refused(limit: tuple[str, str], data: Path, tmp_path: Path) -> None:
    assert export(tmp_path / "tasks", data, *limit).exit_code == 2


def test_output_is_small_and_without_links_before_it_is_collected(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "logs"
    script = (VERIFIER / "collect.sh").read_text().replace("/home", str(home)).replace("/logs", str(elsewhere))

    def collect(most: int) -> set[str]:
        subprocess.run(["sh", "-c", f"most={most}\n{script}"], check=True)
        return {path.relative_to(home).as_posix() for path in home.rglob("*")}

    for name in ("submission", "code/venv/bin"):
        (home / name).mkdir(parents=True)
    (elsewhere / "artifacts").mkdir(parents=True)
    (elsewhere / "artifacts" / "checkpoint").write_bytes(bytes(100))
    (home / "submission" / "submission.csv").write_text("id,target\n")
    (home / "submission" / "other.csv").write_text("id,target\n")
    (home / "code" / "train.py").write_text("print()\n")
    (home / "code" / "model.bin").write_bytes(bytes(2 * 2**20))
    (home / "code" / "venv" / "bin" / "python").symlink_to("/usr/bin/python3")
    (home / "logs").symlink_to("/")
    kept = {"submission", "submission/submission.csv", "code", "code/train.py", "code/venv", "code/venv/bin"}
    assert collect(2**20) == kept
    assert not list((elsewhere / "artifacts").iterdir())

    (home / "logs").mkdir()
    for number in range(7000):
        (home / "logs" / str(number)).touch()
    (home / "submission" / "submission.csv").write_bytes(bytes(2 * 2**20))
    assert collect(2**20) == kept | {"logs"} | {f"logs/{number}" for number in range(7000)}
    assert "removed" in (home / "submission" / "submission.csv").read_text()
    for number in range(7):
        (home / "logs" / f"big{number}").write_bytes(bytes(2**20))
    assert collect(2**20) == kept
