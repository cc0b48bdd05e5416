"""`mlecore images` for environments: listed with what is in them, and removed unless a job needs them."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from mle_ext_setup.images import command

from mlecore.errors import ImageGone
from mlecore.model.agents import Recipe
from mlecore_sandboxes import environments
from mlecore_sandboxes.machine import Machine

TOOL, OTHER = Recipe(files={"/srv/tool": b"x" * 100_000}), Recipe(files={"/srv/other": b"y"})


def said(*words: str, input: str | None = None) -> Result:
    return CliRunner().invoke(command, [*words, "--backend", "vm"], input=input)


def listed() -> dict[str, dict[str, Any]]:
    return {each["ref"]: each for each in json.loads(said("list", "--json").output)}


@pytest.fixture
def vm(state: Path) -> Machine:
    return Machine({})


def build(vm: Machine, recipe: Recipe, folder: Path) -> str:
    return vm.build(recipe, folder / "log").ref


@pytest.mark.sandbox
def test_pruning_asks_and_frees_what_no_job_needs(lab: Any, tmp_path: Path) -> None:
    handle = lab.start("exec sleep 300", recipe=TOOL)
    used, free = build(lab.backend, TOOL, tmp_path), build(lab.backend, OTHER, tmp_path)
    assert {ref: each["used"] for ref, each in listed().items()} == {used: True, free: False}
    declined = said("prune", input="n\n")
    assert declined.exit_code == 1 and "Remove 1 image?" in declined.output and len(listed()) == 2
    assert said("prune", input="y\n").output.splitlines()[-1].startswith("removed 1 image,")
    assert list(listed()) == [used]
    lab.backend.remove(handle)
    assert "removed 1 image," in said("prune", "--yes").output and not listed()


@pytest.mark.sandbox
def test_what_an_interrupted_build_left_is_removed_and_one_at_work_is_not(vm: Machine, tmp_path: Path) -> None:
    whole = Path(build(vm, TOOL, tmp_path))
    left, at_work = whole.with_name("a" * 64), whole.with_name("b" * 64)
    for folder in (left, at_work):
        folder.mkdir()
        (folder / "half").write_bytes(b"x" * 10_000)
    with environments.locked(at_work, fcntl.LOCK_EX):
        said("prune", "--yes")
    assert at_work.is_dir() and not left.exists() and not whole.exists()


@pytest.mark.sandbox
def test_a_job_whose_environment_was_removed_is_reported_as_such(lab: Any, tmp_path: Path) -> None:
    job = lab.job("true", recipe=TOOL)
    said("prune", "--yes")
    with pytest.raises(ImageGone):
        lab.backend.start(job)
    assert lab.backend.build(TOOL, tmp_path / "log").ref == job.image.ref and Path(job.image.ref).is_dir()
