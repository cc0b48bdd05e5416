"""An agent reaches its model through the gateway, which is alive without the controller, and finds no key."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from mlecore.model.model_access import ModelAccess
from mlecore_testing.models import Answer, Model, Script, scripted_model
from mlecore_testing.models.client import ASK

pytestmark = pytest.mark.sandbox

KEY = "sk-real-0123456789abcdef"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    with scripted_model(Script(key=KEY, answers=(Answer(text="fine", times=0),))) as running:
        yield running


def access(model: Model, **values: Any) -> ModelAccess:
    return ModelAccess(endpoint=model.url, key="TEST_MODEL_KEY", **{"models": ("scripted",), **values})


def test_a_gateway_that_dies_is_started_again_and_remembers(lab: Any, model: Model) -> None:
    wait = "while not os.path.exists('go'): time.sleep(0.05)\n"
    retry = "while True:\n try: print(ask()); break\n except OSError: time.sleep(0.1)\n"
    script = ASK + "import time\nprint(ask(), flush=True)\n" + wait + retry + "print(ask())"
    handle = lab.start(argv=("python3", "-c", script), network="llm", model=access(model, budgets=("2calls",)))
    lab.until(lambda: "fine" in lab.printed(handle))
    for pid in beside(lab):
        os.kill(pid, signal.SIGKILL)
    (lab.backend._root / "jobs" / handle.name / "home/go").touch()
    assert lab.wait(handle).exit_code == 0
    assert lab.printed(handle) == "fine\nfine\n429\n"


def test_the_key_is_nowhere(lab: Any, model: Model) -> None:
    """Neither for the agent nor in what lies on this machine's disk."""
    look = ASK + (
        "import subprocess\nprint(ask())\n"
        "where = '/home /tmp /etc /opt /run /proc/self/environ /proc/1/environ /proc/1/cmdline'.split()\n"
        "argv = ['grep', '-rlas', 'sk-real-01234567' + '89abcdef', *where]\n"
        "found = subprocess.run(argv, capture_output=True, text=True).stdout\n"
        "print(repr(found), [v for v in os.environ.values() if v.startswith('sk-')])\n"
        "open('done', 'w').close()\nimport time; time.sleep(300)"
    )
    handle = lab.start(argv=("python3", "-u", "-c", look), network="llm", model=access(model, transcripts=True))
    folder = lab.backend._root / "jobs" / handle.name
    lab.until(lambda: (folder / "home/done").exists() and lab.printed(handle).count("\n") == 2)
    assert lab.printed(handle) == "fine\n'' []\n"
    for pid in beside(lab):
        assert KEY.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
    lab.backend.stop(handle, 0.0)
    for path in lab.backend._root.rglob("*"):
        if path.is_file() and not path.is_symlink() and "home/data" not in str(path):
            assert KEY.encode() not in path.read_bytes(), path
    assert beside(lab) == []


def test_without_the_key_nothing_starts(lab: Any, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlecore.errors import BackendError

    monkeypatch.delenv("TEST_MODEL_KEY")
    with pytest.raises(BackendError, match="TEST_MODEL_KEY, which is not set"):
        lab.start("true", network="llm", model=access(model))


def test_the_relay_ends_with_a_killed_supervisor(lab: Any) -> None:
    handle = lab.start("exec sleep 300", network="llm", allow=("allowed.invalid",))
    lab.until(lambda: len(beside(lab, b"relay.py")) == 2)
    state = json.loads((lab.backend._root / "jobs" / handle.name / "state.json").read_text())
    os.kill(state["pid"], signal.SIGKILL)
    lab.until(lambda: beside(lab, b"relay.py") == [])


def beside(lab: Any, word: bytes = b"mlecore_gateway") -> list[int]:
    """Processes with this word in their command line that run in the folders of this test's jobs."""
    out = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word in (entry / "cmdline").read_bytes():
                inside = (entry / "cwd").resolve().is_relative_to(lab.folder)
                out += [int(entry.name)] if inside else []
        except OSError:
            continue
    return out
