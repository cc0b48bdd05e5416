"""Recipes become environments, once; what a bare machine cannot bring is named."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from mlecore.errors import BackendError
from mlecore.model.agents import Recipe
from mlecore_sandboxes import environments, installing
from mlecore_sandboxes.building import Step
from mlecore_testing.package_index import MODULE, NAME, npm_registry, package_index, wheel


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "state"


def build(recipe: Recipe, root: Path, isolated: bool = False) -> Any:
    root.mkdir(exist_ok=True)
    return environments.build(recipe, root, root / "build.log", "bubblewrap" if isolated else "none")


def credentials(npmrc: str) -> str:
    return npmrc.partition("_auth=")[2].strip()


def no_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (environments, installing):
        monkeypatch.setattr(module, "find_uv", lambda: None)


def test_programs_are_looked_for_never_installed(root: Path) -> None:
    with pytest.raises(BackendError, match=r"no-such-program, no-such-package-xyz"):
        build(Recipe(programs=("sh", "no-such-program"), apt=("no-such-package-xyz",)), root)
    build(Recipe(programs=("sh", "cat")), root)


@pytest.mark.sandbox
def test_files_of_a_recipe_in_a_job(lab: Any) -> None:
    recipe = Recipe(files={"/srv/a/tool": b"#!/bin/sh\necho tool; touch /srv/a/x 2>/dev/null || echo read-only\n"})
    status, output = lab.run("/srv/a/tool", recipe=recipe)
    assert (status.exit_code, output) == (0, "tool\nread-only\n")


@pytest.mark.parametrize("path", ["/usr/lib/x", "relative", "/home/x", "/proc/x", "/opt/mlecore/init"])
def test_an_impossible_path_is_reported(root: Path, path: str) -> None:
    with pytest.raises(BackendError, match="cannot put a file"):
        build(Recipe(files={path: b""}), root)


def test_a_build_that_fails_shows_its_end_and_leaves_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_uv(monkeypatch)
    monkeypatch.setattr(environments, "base_python", lambda: "/bin/false")
    with pytest.raises(BackendError, match=r"build.log\) ends with:\n(?s:.*)\$ /bin/false -m venv"):
        build(Recipe(pip=("x",)), root)
    assert [path.name for path in (root / "envs").iterdir() if path.is_dir()] == []


def test_a_build_that_was_cut_off_begins_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Recipe] = []
    monkeypatch.setattr(environments, "_make", lambda recipe, *_: _pretend(made, recipe))
    recipe = Recipe(pip=("x",))
    torn = Path(build(recipe, root).ref)
    environments.manifest(torn).unlink()
    (torn / "half").touch()
    made.clear()
    build(recipe, root)
    assert len(made) == 1 and not (torn / "half").exists()


def _pretend(made: list[Recipe], recipe: Recipe) -> dict[str, object]:
    made.append(recipe)
    return {"digest": "d", "installed": []}


def test_another_interpreter_or_platform_has_another_environment(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Recipe] = []
    monkeypatch.setattr(environments, "_make", lambda recipe, *_: _pretend(made, recipe))
    recipe = Recipe(pip=("x",))
    images = [build(recipe, root)]
    for name in ("python_version", "machine"):
        monkeypatch.setattr(environments.platform, name, lambda: "other")
        images.append(build(recipe, root))
    assert len({image.ref for image in images}) == len(made) == 3
    assert len({build(Recipe(), root).digest, images[0].digest}) == 2


def test_a_digest_is_that_of_the_content(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same recipe resolves to something else on another day."""
    code = "a = 1"

    def install(step: Step, *_: object) -> int:
        if "install" in step.argv:
            info = step.writes / "lib/python3/site-packages/x-1.0.dist-info"
            info.mkdir(parents=True)
            (info / "RECORD").write_text(
                f"x.py,sha256={code},5\n../../../bin/x,sha256={info},9\nx-1.0.dist-info/RECORD,,\n"
            )
        return 0

    monkeypatch.setattr(installing, "run", install)
    first, again = build(Recipe(pip=("x",)), root), build(Recipe(pip=("x",)), root.with_name("elsewhere"))
    assert first.digest == again.digest and first.ref != again.ref
    assert first.installed[-1] == "x==1.0"
    code = "a = 2"
    assert build(Recipe(pip=("x",)), root.with_name("later")).digest != first.digest


@pytest.mark.network
@pytest.mark.sandbox
def test_packages_can_be_used_in_a_job(lab: Any) -> None:
    status, output = lab.run("python -c 'import six; print(six.__version__)'", recipe=Recipe(pip=("six==1.16.0",)))
    assert (status.exit_code, output) == (0, "1.16.0\n")


@pytest.mark.network
@pytest.mark.sandbox
def test_node_packages_can_be_used_in_a_job(lab: Any) -> None:
    if environments.node_prefix() is None:
        pytest.skip("no npm")
    status, output = lab.run("semver 1.2.3", recipe=Recipe(npm=("semver@7.6.0",)))
    assert (status.exit_code, output) == (0, "1.2.3\n")


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("how", ["variable", "options file", "netrc"])
def test_packages_come_from_a_mirror_with_a_password(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    password = "open-sesame"
    with package_index(password) as url:
        if how == "variable":
            monkeypatch.setenv("PIP_INDEX_URL", url)
        elif how == "netrc":
            monkeypatch.setenv("PIP_INDEX_URL", url.replace(f"user:{password}@", ""))
            monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
            (tmp_path / "netrc").write_text(f"machine 127.0.0.1 login user password {password}\n")
        else:
            options = tmp_path / "pip.conf"
            options.write_text(f"[global]\nindex-url = {url}\n")
            monkeypatch.setenv("PIP_CONFIG_FILE", str(options))
        image = build(Recipe(pip=(NAME,)), root, isolated=True)
    assert f"{MODULE}==1.0" in image.installed
    kept = [path for path in Path(image.ref).rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in kept if password.encode() in path.read_bytes()]


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.skipif(environments.node_prefix() is None, reason="there is no npm here")
def test_node_packages_come_from_a_registry_with_a_password(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = "open-sesame"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    with npm_registry(password) as npmrc:
        (tmp_path / ".npmrc").write_text(npmrc.replace(credentials(npmrc), "${OWN_TOKEN}"))
        monkeypatch.setenv("OWN_TOKEN", credentials(npmrc))
        image = build(Recipe(npm=(NAME,)), root, isolated=True)
        (tmp_path / ".npmrc").write_text(npmrc.partition("\n")[0])
        with pytest.raises(BackendError):
            build(Recipe(npm=(NAME, "other")), root, isolated=True)
    assert f"{NAME}@1.0.0" in str(image.installed)
    kept = [path for path in Path(image.ref).rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in kept if credentials(npmrc).encode() in path.read_bytes()]


def test_a_package_with_another_hash_is_not_installed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = hashlib.sha256(wheel()).hexdigest()
    with package_index("open-sesame") as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        image = build(Recipe(pip=("--only-binary :all:", f"{NAME}==1.0 --hash=sha256:{digest}")), root)
        with pytest.raises(BackendError, match=r"(?i)hash"):
            build(Recipe(pip=(f"{NAME}==1.0 --hash=sha256:{'0' * 64}",)), root)
    assert f"{MODULE}==1.0" in image.installed


def test_packages_are_installed_alone_after_the_others(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Step] = []
    monkeypatch.setattr(installing, "run", lambda step, *_: seen.append(step) or 0)
    build(Recipe(pip=("a", "b"), pip_alone=("c==1",)), root)
    first, second = (step for step in seen if "install" in step.argv)
    assert first.lines == ("a", "b") and "--no-deps" not in first.argv
    assert second.lines == ("c==1",) and "--no-deps" in second.argv
