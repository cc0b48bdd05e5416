"""The same without being root: the sandbox in a user namespace. Run as nobody where the tests are root's."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import attrs
import lazy_loader
import pluggy
import pytest

import mlecore
import mlecore_jobs
import mlecore_sandboxes
import mlecore_testing
import mlecore_toolkit

pytestmark = pytest.mark.sandbox
PYTHON = "/usr/bin/python3"
USER = 64_123


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not below tmp_path, where only root can go."""
    folder = Path(tempfile.mkdtemp(prefix="mlecore-user-"))
    os.chown(folder, USER, USER)
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def run(folder: Path, script: str) -> str:
    """As a user without rights, with what Python the system has."""
    if os.geteuid() != 0:
        pytest.skip("the other tests are an ordinary user's already")
    code = folder / "code"
    code.mkdir()
    ours = (mlecore, mlecore_jobs, mlecore_sandboxes, mlecore_testing, mlecore_toolkit)
    for module in (*ours, attrs, lazy_loader, pluggy, __import__("attr")):
        source = Path(str(module.__file__)).parent
        shutil.copytree(source, code / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    fits = subprocess.run([PYTHON, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"], check=False)
    if not Path(PYTHON).exists() or fits.returncode:
        pytest.skip(f"no Python 3.11 at {PYTHON}, where every user can read it")
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(code), "MLECORE_VM_STATE": str(folder / "state")}
    done = subprocess.run(
        [PYTHON, "-B", "-c", textwrap.dedent(script), str(folder)],
        capture_output=True, text=True, env=env, user=USER, group=USER, extra_groups=(), cwd=folder, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_rules_against_harm_hold_for_an_ordinary_user(folder: Path) -> None:
    """Root can read what an agent has locked, and only an ordinary user's files must be unlocked first."""
    script = """
        import sys, types
        from pathlib import Path
        import mlecore_testing
        from mlecore_sandboxes.machine import Machine
        kit = types.ModuleType("mlecore_testing.backends")  # without its models, which need more than the system has
        kit.__path__ = [str(Path(mlecore_testing.__file__).parent / "backends")]
        sys.modules[kit.__name__] = kit
        from mlecore_testing.backends import ends, harm, limits
        from mlecore_testing.backends.harness import BackendBench
        place = Path(sys.argv[1]) / "bench"
        place.mkdir()
        bench = BackendBench(None, {}, place)
        bench.another = lambda: Machine({})
        for rule in (harm.locked, harm.init_kept, limits.uncounted, ends.forged, harm.hostile):
            print(rule.__name__, [broken.what for broken in rule(bench)])
        bench.clear()
    """
    output = run(folder, script)
    assert output == "locked []\ninit_kept []\nuncounted []\nforged []\nhostile []\n"
