"""Packages that `mlecore new` writes install, are found, and pass their tests."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from mle_ext_own_data.examples import example

from mlecore.plugins.discovery import PREFIXES
from mlecore_testing.scaffold import KINDS, package, write

PLUGINS = Path(__file__).parents[2] / "plugins"
CLI = "from mlecore.cli import main; main()"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["competition", *KINDS])
def test_a_new_package_installs_is_found_and_passes_its_tests(
    kind: str, install: Callable[[Path], None], run: Run, tmp_path: Path
) -> None:
    made = example("Try-it.2") if kind == "competition" else package(kind, "Try-it.2")
    folder = write(made, tmp_path)
    install(folder)
    listed = run("-c", CLI, "plugins", "list", "--kind", kind, "--json")
    (found,) = [plugin for plugin in json.loads(listed.stdout) if plugin["name"] == "Try-it.2"]
    assert found["state"] == "ok", found
    assert found["distribution"] == f"{PREFIXES[kind]}try-it-2"
    assert run("-c", CLI, "plugins", "show", "Try-it.2", "--kind", kind).returncode == 0
    if kind != "competition":  # that one is tested on the way of docs/publishing.md
        tested = run("-m", "pytest", "-q", str(folder / "tests"))
        assert tested.returncode == 0, tested.stdout


@pytest.mark.slow
@pytest.mark.parametrize("like", ["groups", "images"])
def test_each_example_of_a_competition_passes_the_kit(
    like: str, install: Callable[[Path], None], run: Run, tmp_path: Path
) -> None:
    folder = write(example(f"try-{like}", like), tmp_path)
    install(folder)
    tested = run("-m", "pytest", "-q", str(folder))
    assert tested.returncode == 0, tested.stdout


def test_answers_are_not_published(build: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = write(example("my-own"), tmp_path)
    private = folder / "mle_comp_my_own" / "data" / "my-own" / "prepared" / "private"
    private.mkdir(parents=True)
    (private / "answers.csv").touch()
    with zipfile.ZipFile(build(folder)) as wheel:
        assert "mle_comp_my_own/competition.toml" in wheel.namelist()
        assert not [name for name in wheel.namelist() if "answers" in name]


def test_new_packages_keep_data_out_of_git_and_wheels_when_installed_from_wheels(
    install: Callable[[Path], None], build: Callable[[Path], Path], run: Run, tmp_path: Path
) -> None:
    for place in ("libraries/testing", "extensions/own-data"):
        install(PLUGINS / place)
    imported = run("-c", "import mlecore_testing, mle_ext_own_data; print(mlecore_testing.__file__)")
    assert str(tmp_path) in imported.stdout
    for kind in (*KINDS, "competition"):
        done = run("-c", CLI, "new", kind, "my-own", "--into", str(tmp_path))
        assert done.returncode == 0, done.stderr
        folder = tmp_path / f"{PREFIXES[kind]}my-own"
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        for place in ("raw_data.txt", f"mle_{kind}/raw_data.txt", "prepared/private/test.csv", "data/answers.csv"):
            subprocess.run(["git", "-C", str(folder), "check-ignore", "--no-index", "-q", place], check=True)
    module = folder / "mle_comp_my_own"
    (module / "raw_data.txt").write_text("/home/somebody/answers.csv")
    (module / "raw_data").mkdir()
    (module / "raw_data" / "own.csv").touch()  # --include-data
    with zipfile.ZipFile(build(folder)) as wheel:
        assert [name for name in wheel.namelist() if "raw_data" in name and not name.endswith("/")] == [
            "mle_comp_my_own/raw_data/own.csv"
        ]
