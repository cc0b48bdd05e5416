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
import mle_backend_vm
import mlecore_testing
import pluggy
import pytest

import mlecore

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
    for module in (mlecore, mle_backend_vm, mlecore_testing, attrs, pluggy, __import__("attr")):
        source = Path(str(module.__file__)).parent
        shutil.copytree(source, code / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).parent / "conftest.py", code / "labtools.py")
    shutil.copytree(Path(pytest.__file__).parents[0], code / "pytest")
    (code / "pytest" / "__init__.py").write_text(textwrap.dedent(_NO_PYTEST))
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


_NO_PYTEST = """
    class Monkey: ...
    class FixtureRequest: ...
    Item = MonkeyPatch = object
    def fixture(*a, **k): return a[0] if a else (lambda f: f)
    def param(*a, **k): return a
    class mark: sandbox = None
"""
_PLACE = """
    import sys, os, json
    from pathlib import Path
    from labtools import Lab, Vm, until
    lab = Lab(Vm({}), Path(sys.argv[1]))
"""


def test_a_job_of_an_ordinary_user(folder: Path) -> None:
    script = """
        words = "id -u; cat /home/data/train.csv; echo 1 > submission/s.csv; ls /dev/shm /root 2>&1;"
        words += "touch /x /usr/x /home/data/x 2>&1 | wc -l;"
        words += "i=0; while [ $i -lt 100 ]; do sleep 9 & i=$((i+1)); done 2>/dev/null; echo not reached"
        status, output = lab.run("/bin/sh", "-c", words, processes=30, memory=10**9)
        print(output, status.exit_code)
        fetched, into = lab.fetch(lab.handles[0], "submission")
        print(fetched.files, lab.vm.describe().user)
        hog = "kept = b'x' * 200_000_000; import time; time.sleep(9)"
        status, output = lab.run("python3", "-c", hog, memory=100_000_000, name="mle-test-2")
        print("oom", status.oom)
        words = "mkdir -p code/a/b; chmod 0 code/a; echo up; exec sleep 60"
        handle = lab.start("/bin/sh", "-c", words, name="mle-test-3")
        until(lambda: lab.output(handle) == "up\\n")
        lab.vm.stop(handle, 2.0)
        print(lab.status(handle).exit_code)
        words = "import os, socket; socket.create_connection(('127.0.0.1', 3128)); print(os.environ['HTTPS_PROXY'])"
        print(lab.run("python3", "-c", words, network="llm", allow=("example.com",), name="mle-test-4")[1])
        for handle in lab.handles: lab.vm.remove(handle)
        print([p for d in ("jobs", "new", "trash") for p in (Path(sys.argv[1]) / "state" / d).iterdir()])
    """
    output = run(folder, textwrap.dedent(_PLACE) + textwrap.dedent(script))
    assert "1000\nid,y\n1,0\n" in output and "not reached" not in output
    assert "/root" in output and "\n3\n" in output  # three labs that it cannot write
    assert "1 the controller's, in a user namespace\noom True\n143\nhttp://127.0.0.1:3128\n\n[]\n" in output


@pytest.mark.slow
def test_rules_against_harm_hold_for_an_ordinary_user(folder: Path) -> None:
    """Root can read what an agent has locked, and only an ordinary user's files must be unlocked first."""
    script = """
        import mlecore_testing, types
        kit = types.ModuleType("mlecore_testing.backends")  # without its models, which need more than the system has
        kit.__path__ = [str(Path(mlecore_testing.__file__).parent / "backends")]
        sys.modules[kit.__name__] = kit
        from mlecore_testing.backends import ends, harm, limits
        from mlecore_testing.backends.harness import BackendBench
        place = Path(sys.argv[1]) / "bench"
        place.mkdir()
        bench = BackendBench(None, {}, place)
        bench.another = lambda: Vm({})
        for rule in (harm.locked, harm.init_kept, limits.uncounted, ends.forged, harm.hostile):
            print(rule.__name__, [broken.what for broken in rule(bench)])
        bench.clean_up()
    """
    output = run(folder, textwrap.dedent(_PLACE) + textwrap.dedent(script))
    assert output == "locked []\ninit_kept []\nuncounted []\nforged []\nhostile []\n"
