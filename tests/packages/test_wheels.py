"""Wheels: what an index gets of them, and that they work outside of the workspace, from a folder of them alone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of all packages of the workspace."""
    folder = tmp_path_factory.mktemp("wheels")
    subprocess.run([sys.executable, str(ROOT / "scripts" / "build.py"), "--wheel", "--out", str(folder)], check=True)
    return folder


@pytest.mark.slow
@pytest.mark.xdist_group("wheels")  # so that they are built once
def test_every_wheel_has_licence_authors_and_a_page_that_an_index_can_show(wheels: Path) -> None:
    pages = {}
    for path in wheels.glob("*.whl"):
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            (metadata,) = [wheel.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")]
            (licence,) = [wheel.read(name) for name in names if name.endswith(".dist-info/licenses/LICENSE")]
        assert licence == (ROOT / "LICENSE").read_bytes()
        head, _, page = metadata.partition("\n\n")
        assert "Author: The mlecore developers" in head
        assert "License-Expression: MIT" in head
        assert "Classifier: " in head
        assert page.startswith("# ")
        assert not re.search(r"\]\((?!https://)", page), f"{path.name}: a relative link"
        pages[path.name.partition("-")[0]] = head, page
    head, page = pages["mle_comp_spaceship_titanic"]
    assert "Project-URL: Kaggle, https://www.kaggle.com/c/spaceship-titanic" in head
    assert "| medals | gold 0.82066, silver 0.81388, bronze 0.80967; median 0.79565 |" in page
    assert "Members of a group are in both parts" in page


def test_packages_agree_on_licence_python_and_build() -> None:
    core = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for path in ROOT.glob("plugins/*/*/pyproject.toml"):
        package = tomllib.loads(path.read_text(encoding="utf-8"))
        for key in ("license", "requires-python", "readme"):
            assert package["project"][key] == core["project"][key], f"{path}: {key}"
        assert package["build-system"] == core["build-system"], path


@pytest.fixture
def elsewhere(uv: str, tmp_path: Path) -> Path:
    """An environment with the third-party packages of this one, and nothing of the workspace."""
    venv = tmp_path / "venv"
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, str(venv)], check=True)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(venv)}))
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if re.match(r"mle_|mlecore|__editable__|_editable|__pycache__", entry.name) or entry.suffix == ".pth":
            continue
        if entry.suffix == ".dist-info":  # uv looks for folders
            shutil.copytree(entry, own / entry.name)
        elif not (own / entry.name).exists():
            (own / entry.name).symlink_to(entry)
    return venv


@pytest.mark.slow
@pytest.mark.xdist_group("wheels")
def test_all_wheels_work_elsewhere(uv: str, wheels: Path, elsewhere: Path, tmp_path: Path) -> None:
    packages = [path.parent for path in ROOT.glob("plugins/*/*/pyproject.toml")]
    assert len(list(wheels.glob("*.whl"))) == len(packages) + 1
    for module in [ROOT / "mlecore", *(next(package.glob("mle*_*")) for package in packages)]:
        (wheel,) = wheels.glob(f"{module.name}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            inside = {name for name in archive.namelist() if re.match(rf"{module.name}/.*[^/]$", name)}
        files = {path.relative_to(module.parent).as_posix() for path in module.rglob("*") if path.is_file()}
        assert {name for name in files if "__pycache__" not in name} == inside

    python = elsewhere / "bin" / "python"
    install = [uv, "pip", "install", "-q", "--offline", "--no-index", "--find-links", str(wheels)]
    subprocess.run([*install, "--python", str(python), "mlecore[all]"], check=True)

    def mlecore(*words: str) -> str:
        command = [str(elsewhere / "bin" / "mlecore"), *words]
        environment = {"PATH": str(elsewhere / "bin"), "HOME": str(tmp_path / "home")}
        return subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout

    listed = {row["id"] for row in json.loads(mlecore("competitions", "list", "--json"))}
    assert "vm" in {row["name"] for row in json.loads(mlecore("plugins", "list", "--json")) if row["kind"] == "backend"}
    competitions = {package.name for package in packages if package.parent.name == "competitions"}
    assert listed == competitions
    data = tmp_path / "data"
    mlecore("prepare", "siim-isic-melanoma-classification", "--synthetic", "--size", "0.1", "--data", str(data))
    (sample,) = data.rglob("public/sample_submission.csv")
    words = ("siim-isic-melanoma-classification", "--synthetic", "--data", str(data))
    assert "is well-formed" in mlecore("check", str(sample), *words)
    assert json.loads(mlecore("grade", str(sample), *words, "--json"))["score"] == 0.5
