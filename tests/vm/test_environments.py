"""Recipes become environments, once; what a bare machine cannot bring is named."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from mlecore.agents import Recipe
from mlecore.errors import BackendError
from mlecore.vm import environments


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "state"


def build(recipe: Recipe, root: Path) -> Any:
    root.mkdir(exist_ok=True)
    return environments.build(recipe, root, root / "build.log")


def test_an_empty_recipe_needs_nothing(root: Path) -> None:
    image = build(Recipe(base="ignored"), root)
    assert image.ref == "" and image.digest == Recipe(base="ignored").digest()
    assert not (root / "envs").exists()


def test_a_finished_image_is_for_docker(root: Path) -> None:
    with pytest.raises(BackendError, match="backend docker"):
        build(Recipe(image="python:3.11"), root)


def test_programs_are_looked_for_never_installed(root: Path) -> None:
    with pytest.raises(BackendError, match=r"no-such-program, no-such-package-xyz"):
        build(Recipe(programs=("sh", "no-such-program"), apt=("no-such-package-xyz",)), root)
    build(Recipe(programs=("sh", "cat")), root)


def test_files_are_shown_where_the_recipe_wants_them(root: Path) -> None:
    image = build(Recipe(files={"/srv/a/tool": b"#!/bin/sh\necho tool\n", "/srv/b": b"text"}), root)
    files = environments.files(image.ref)
    assert {str(path): source.read_bytes() for path, source in files.items()} == {
        "/srv/a/tool": b"#!/bin/sh\necho tool\n",
        "/srv/b": b"text",
    }
    assert files[PurePosixPath("/srv/a/tool")].stat().st_mode & 0o111


@pytest.mark.sandbox
def test_files_of_a_recipe_in_a_job(lab: Any) -> None:
    recipe = Recipe(files={"/srv/a/tool": b"#!/bin/sh\necho tool; touch /srv/a/x 2>/dev/null || echo read-only\n"})
    status, output = lab.run("/srv/a/tool", recipe=recipe)
    assert (status.exit_code, output) == (0, "tool\nread-only\n")


@pytest.mark.parametrize("path", ["/usr/lib/x", "relative", "/home/x", "/proc/x", "/opt/mlecore/init"])
def test_a_path_that_cannot_be_had_is_said(root: Path, path: str) -> None:
    with pytest.raises(BackendError, match="cannot put a file"):
        build(Recipe(files={path: b""}), root)


def test_a_build_that_fails_shows_its_end_and_leaves_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "_uv", lambda: None)
    monkeypatch.setattr(environments, "base_python", lambda: "/bin/false")
    with pytest.raises(BackendError, match=r"build.log\) ends with:\n\$ /bin/false -m venv"):
        build(Recipe(pip=("x",)), root)
    assert [path.name for path in (root / "envs").iterdir() if path.is_dir()] == []


def test_an_environment_is_built_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Recipe] = []
    monkeypatch.setattr(environments, "_make", lambda recipe, target, log: _pretend(made, recipe, target))
    recipe = Recipe(pip=("x",))
    first, second = build(recipe, root), build(recipe, root)
    assert first == second and len(made) == 1
    build(Recipe(pip=("y",)), root)
    assert len(made) == 2


def test_a_build_that_was_cut_off_begins_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Recipe] = []
    monkeypatch.setattr(environments, "_make", lambda recipe, target, log: _pretend(made, recipe, target))
    recipe = Recipe(pip=("x",))
    torn = root / "envs" / recipe.digest()
    torn.mkdir(parents=True)
    (torn / "half").touch()
    build(recipe, root)
    assert len(made) == 1 and not (torn / "half").exists()


def _pretend(made: list[Recipe], recipe: Recipe, target: Path) -> None:
    made.append(recipe)
    (target / "made.json").write_text("{}")


def test_packages_are_compiled_but_for_their_tests(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "python3" / "site-packages" / "x"
    for name, text in (("used.py", "a = 1"), ("template.py", "{{ a }} ="), ("tests/test_x.py", "b = 1")):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(environments.base_python())
    with (tmp_path / "log").open("a") as out:
        environments._compile(tmp_path, out.fileno())
    assert [path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")] == ["used"]


@pytest.mark.network
@pytest.mark.slow
def test_packages_without_uv(any_lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "_uv", lambda: None)
    test_packages_can_be_used_in_a_job(any_lab)


@pytest.mark.network
def test_packages_can_be_used_in_a_job(any_lab: Any) -> None:
    status, output = any_lab.run(
        "python", "-c", "import six; print(six.__version__)", recipe=Recipe(pip=("six==1.16.0",))
    )
    assert (status.exit_code, output) == (0, "1.16.0\n")


@pytest.mark.network
def test_node_packages_can_be_used_in_a_job(any_lab: Any) -> None:
    if environments.node_prefix() is None:
        pytest.skip("no npm")
    status, output = any_lab.run("semver", "1.2.3", recipe=Recipe(npm=("semver@7.6.0",)))
    assert (status.exit_code, output) == (0, "1.2.3\n")
