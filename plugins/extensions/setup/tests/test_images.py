"""`mlecore images` asks all backends; one that does not answer is named and hides no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from mle_ext_setup.images import command

from mlecore.model.agents import Recipe
from mlecore_sandboxes.machine import Machine


@pytest.mark.sandbox
def test_a_backend_that_does_not_answer_is_left_out_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "vm"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    Machine({}).build(Recipe(files={"/srv/tool": b""}), tmp_path / "log")
    done = CliRunner().invoke(command, ["list"])
    assert done.exit_code == 0 and "/srv/tool" in done.stdout and "backend docker is left out" in done.stderr
    named = CliRunner().invoke(command, ["list", "--backend", "docker"])
    assert named.exit_code != 0 and named.exception is not None


@pytest.mark.sandbox
def test_an_environment_cannot_be_pushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "vm"))
    Machine({}).build(Recipe(files={"/srv/tool": b""}), tmp_path / "log")
    done = CliRunner().invoke(command, ["push", "--registry", "registry.example.com", "--backend", "vm"])
    assert "not an image that can be pushed to a registry" in str(done.exception)


@pytest.mark.sandbox
def test_an_agent_s_needs_are_built_without_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "vm"))
    done = CliRunner().invoke(command, ["build", "dummy"], catch_exceptions=False)
    assert done.exit_code == 0 and done.output.startswith("nothing to install ")
