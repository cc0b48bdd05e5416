"""Rehearses a release: `make release-check`, or `release_check.py [--previous DIR]`. Takes some minutes.

1. All packages are built twice, with the same bytes.
2. twine and check-wheel-contents accept them, and each wheel and sdist has the licence.
3. A software bill of materials (CycloneDX) is written from requirements.lock: build/release/sbom.cdx.json.
4. They are uploaded to a local index, and installed from there into an empty environment, where data are prepared and a
   submission is graded. Third-party packages come from the index that pip and uv are set to.
5. With --previous, a folder of older wheels: an environment with those prepares data and runs an agent, and is then
   upgraded. Its data must still be verified, and give the same score; its runs must verify and be reported as before.
"""

from __future__ import annotations

import argparse
import csv
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from generate import ROOT, distribution, members

from mlecore_testing.package_index import serving

TOOLS = ROOT / ".tools" / "release" / "bin"
UV = ROOT / ".tools" / "bin" / "uv"
DIST = ROOT / "dist"
OUT = ROOT / "build" / "release"
INSTALLED = ("mlecore", "mle-comp-denoising-dirty-documents")  # each alone, to measure


def main() -> None:
    """Do all five; the first that fails ends the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--previous", type=Path, help="folder with the wheels of the release before")
    previous: Path | None = parser.parse_args().previous
    built_twice()
    checked()
    OUT.mkdir(parents=True, exist_ok=True)
    bill = ["--output-reproducible", "--pyproject", "pyproject.toml", "-o", str(OUT / "sbom.cdx.json")]
    run(str(TOOLS / "cyclonedx-py"), "requirements", *bill, "requirements.lock")
    with TemporaryDirectory() as folder:
        Path(folder, "index").mkdir()
        with serving(Path(folder, "index")) as at:
            index = f"http://{at}"
            login = ["--username", "user", "--password", "none", "--disable-progress-bar"]
            run(str(TOOLS / "twine"), "upload", "--repository-url", f"{index}/", *login, *packages(), quiet=True)
            print(f"published {len(packages())} files to a local index")
            for name in INSTALLED:
                venv = Path(folder, name)
                print(f"installed {name}: {installed(venv, index, name)}")
            score = graded(Path(folder, INSTALLED[0]), Path(folder))
            print(f"graded the sample submission of optical-digits: {score}")
            if previous is not None:
                upgraded(previous, index, Path(folder, "upgrade"))


def packages() -> list[str]:
    """The files to publish."""
    return [str(path) for path in sorted(DIST.iterdir()) if path.suffix in (".whl", ".gz")]


def built_twice() -> None:
    """Build into dist and once more; ends where a file differs."""
    shutil.rmtree(DIST, ignore_errors=True)
    with TemporaryDirectory() as again:
        for out in (str(DIST), again):
            run(sys.executable, "scripts/build.py", "--out", out)
        names = [Path(path).name for path in packages()]
        _, different, missing = filecmp.cmpfiles(DIST, again, names, shallow=False)
    if different or missing:
        sys.exit(f"not the same when built again: {', '.join(different + missing)}")
    expected = 2 * (len(members()) + 1)
    if len(names) != expected:
        sys.exit(f"{len(names)} files in {DIST}, expected {expected}: a wheel and an sdist of each package")
    print(f"built {len(names)} files twice, with the same bytes")


def checked() -> None:
    """Metadata, contents and licences."""
    run(str(TOOLS / "twine"), "check", "--strict", *packages(), quiet=True)
    run(str(TOOLS / "check-wheel-contents"), *(path for path in packages() if path.endswith(".whl")), quiet=True)
    for path in packages():
        if path.endswith(".whl"):
            with zipfile.ZipFile(path) as wheel:
                names = wheel.namelist()
        else:
            with tarfile.open(path) as sdist:
                names = sdist.getnames()
        if not any(name.endswith("/LICENSE") for name in names):
            sys.exit(f"{path} has no LICENSE")
    print("metadata, contents and licences are in order")


def installed(venv: Path, index: str, *names: str) -> str:
    """Install into a new environment; returns seconds and size."""
    run(str(UV), "venv", "-q", "--python", sys.executable, str(venv))
    begun = time.monotonic()
    run(str(UV), "pip", "install", "-q", "--python", str(venv), "--index", f"{index}/simple/", *names)
    size = sum(path.stat().st_size for path in venv.rglob("*") if path.is_file() and not path.is_symlink())
    return f"{time.monotonic() - begun:.0f} s, {size / 1e6:.0f} MB"


def graded(venv: Path, folder: Path) -> float:
    """Prepare `optical-digits` with the environment's mlecore, if that is not done, and grade its sample submission."""
    data = folder / "data"
    mlecore(venv, "prepare", "optical-digits", "--data", str(data))
    (sample,) = data.rglob("public/sample_submission.csv")
    printed = mlecore(venv, "grade", str(sample), "optical-digits", "--data", str(data), "--json")
    return float(json.loads(printed)["score"])


def upgraded(previous: Path, index: str, folder: Path) -> None:
    """From the release before to this one: its data and its runs stay valid, with the same scores."""
    venv = folder / "venv"
    folder.mkdir()
    run(str(UV), "venv", "-q", "--python", sys.executable, str(venv))
    install = [str(UV), "pip", "install", "-q", "--python", str(venv)]
    run(*install, "--find-links", str(previous), "mlecore")
    before = mlecore(venv, "--version").strip()
    score = graded(venv, folder)
    copies = ("--agent", "command", "-A", "argv=cp data/sample_submission.csv submission/submission.csv", "-A", "pip=")
    places = ("--runs", str(folder / "runs"))
    task = ("--competition", "optical-digits", "--data", str(folder / "data"), *places)
    mlecore(venv, "run", *copies, *task, "--group", "before")
    names = ["mlecore", *map(distribution, members())]
    have = {
        row["name"] for row in json.loads(run(str(UV), "pip", "list", "-q", "--python", str(venv), "--format", "json"))
    }
    chosen = [word for name in names if name in have for word in ("--reinstall-package", name)]
    run(*install, "--upgrade", *chosen, "--index", f"{index}/simple/", "mlecore[sharing]")
    mlecore(venv, "data", "verify", "optical-digits", "--data", str(folder / "data"))
    if (now := graded(venv, folder)) != score:
        sys.exit(f"after the upgrade the score is {now}, before it was {score}")
    mlecore(venv, "runs", "verify", "before", *places)
    [reported] = csv.DictReader(mlecore(venv, "report", "before", *places, "--format", "csv").splitlines())
    if float(reported["score"]) != score:
        sys.exit(f"after the upgrade the run's score is {reported['score']}, before it was {score}")
    print(
        f"upgraded from {before} to {mlecore(venv, '--version').strip()}: the same data, the same runs, the same score"
    )


def mlecore(venv: Path, *words: str) -> str:
    """What a command of that environment prints."""
    return run(str(venv / "bin" / "mlecore"), *words)


def run(*command: str, quiet: bool = False) -> str:
    """Run a command in the checkout; ends where it fails."""
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, text=True, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed with {done.returncode}: {' '.join(command[:6])}")
    return "" if quiet else done.stdout


if __name__ == "__main__":
    main()
