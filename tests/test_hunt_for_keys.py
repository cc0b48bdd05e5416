"""A whole group with keys in its controller's environment: no other process, file or page has one."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import zstandard

from mlecore.runs.store import load_group
from mlecore_testing.models import Answer, Script, Usage, scripted_model
from mlecore_testing.package_index import MODULE, NAME, package_index

pytestmark = pytest.mark.slow
MLECORE = [sys.executable, "-m", "mlecore.cli"]
TAG = uuid.uuid4().hex  # other tests of this machine may hunt at the same time
AGENT = """
import glob, json, os, shutil, urllib.request
shutil.copy("data/sample_submission.csv", "submission/submission.csv")
body = json.dumps({"model": "scripted", "messages": [{"role": "user", "content": "hello"}]}).encode()
headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
print(urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=300).read())
homes = [p for home in ("/root", "/home", HOME) for p in glob.glob(home + "/**", recursive=True, include_hidden=True)]
for path in [*glob.glob("/proc/[0-9]*/environ"), *glob.glob("/proc/[0-9]*/cmdline"), *homes[:5000]]:
    try:
        print(open(path, errors="replace").read(100_000))
    except OSError:
        pass
"""
JUDGED = json.dumps(
    {
        "answers": [
            {"rule": rule, "answer": "no", "confidence": 0.9, "quote": "", "reason": ""}
            for rule in ("hand-written-predictions", "outside-help", "outside-material")
        ]
    }
)
RULES = ("mlecore.detecting.worker", "uname -p")  # the detector `rules`, and what its client of models asks the system
ALLOWED = {  # who may have one, by its command
    "canary-judge": RULES,
    "canary-index": ("uv", "pip"),
    "canary-proxy": ("uv", "pip", "mlecore.data.worker", *RULES),
}


def canaries(**more: str) -> dict[str, str]:
    named = {
        "OPENAI_API_KEY": "canary-openai",
        "ANTHROPIC_API_KEY": "canary-anthropic",
        "KAGGLE_KEY": "canary-kaggle",
        "AWS_SECRET_ACCESS_KEY": "canary-aws",
        "HF_TOKEN": "canary-hf",
        "MY_SECRET": "canary-mine",
        "MODEL_KEY": "canary-model",
        "JUDGE_KEY": "canary-judge",
    }
    return {name: f"{value}-{TAG}" for name, value in named.items()} | more


class Watch:
    """Reads the environment of every process that begins, as often as it can."""

    def __init__(self) -> None:
        self.seen: dict[str, set[tuple[int, str]]] = {}  # a canary -> the processes that had it, as number and command
        self.looked = 0
        self.controllers: set[int] = set()
        self._before = _pids()
        self._over = threading.Event()

    def run(self) -> None:
        doubtful: dict[tuple[int, str], float] = {}
        while not self._over.wait(0.01):
            for pid in _pids() - self._before - self.controllers:
                words = _read(pid, "cmdline").replace("\0", " ")
                environment = _read(pid, "environ") if words else ""
                self.looked += 1
                if TAG in words:
                    self.seen.setdefault("command line", set()).add((pid, words))
                for canary in {part for part in environment.replace("@", "\0").split("\0") if TAG in part}:
                    name = canary.partition(f"-{TAG}")[0].rpartition("canary-")[2]
                    if words in self._starting():  # between fork and exec it is still a copy of its parent
                        began = doubtful.setdefault((pid, name), time.monotonic())
                        if time.monotonic() - began < 10:
                            continue
                    self.seen.setdefault(f"canary-{name}", set()).add((pid, words))

    def _starting(self) -> set[str]:
        return {_read(pid, "cmdline").replace("\0", " ") for pid in tuple(self.controllers)}  # others add to them

    def stop(self) -> None:
        self._over.set()


def _pids() -> set[int]:
    return {int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()}


def _read(pid: int, what: str) -> str:
    try:
        return Path(f"/proc/{pid}/{what}").read_bytes().decode(errors="replace")
    except OSError:
        return ""


@contextmanager
def watching() -> Iterator[Watch]:
    watch = Watch()
    thread = threading.Thread(target=watch.run)
    thread.start()
    try:
        yield watch
    finally:
        watch.stop()
        thread.join()


def call(watch: Watch, env: Mapping[str, str], folder: Path, *words: str) -> str:
    """What the command printed; it is a controller, which has the keys."""
    with subprocess.Popen(
        [*MLECORE, *words],
        cwd=folder,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        watch.controllers.add(process.pid)
        output, _ = process.communicate()
    undecided = words[0] == "detect" and process.returncode == 3  # the agent leaves no code to look at
    assert process.returncode in (0, 1) or undecided, output
    return output


def others(watch: Watch) -> dict[str, list[str]]:
    """Which canaries processes had that may not have them."""
    found = {
        canary: [
            words
            for pid, words in processes
            if pid not in watch.controllers and not any(known in words for known in ALLOWED.get(canary, ()))
        ]
        for canary, processes in watch.seen.items()
    }
    return {canary: commands for canary, commands in found.items() if commands}


def forms() -> list[bytes]:
    """The canaries' common part as it is, in hexadecimal, and in base64 wherever it begins."""
    encoded = [base64.b64encode(b"x" * skipped + TAG.encode())[4:40] for skipped in range(3)]
    return [TAG.encode(), TAG.encode().hex().encode(), *encoded]


def with_canary(folder: Path) -> list[str]:
    """Files that hold a canary, compressed ones too."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            if path.suffix == ".zst":
                content = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content)).read()
            elif content[:2] == b"\x1f\x8b":
                content = gzip.decompress(content)
            if any(form in content for form in forms()):
                found.append(str(path))
    return found


def home(folder: Path) -> Path:
    """A user's home with passwords in the usual files."""
    folder.mkdir()
    (folder / ".netrc").write_text(f"machine a.example login user password canary-netrc-{TAG}\n")
    (folder / ".npmrc").write_text(f"//a.example/:_authToken=canary-npmrc-{TAG}\n")
    (folder / ".config" / "kaggle").mkdir(parents=True)
    (folder / ".config" / "kaggle" / "kaggle.json").write_text(json.dumps({"key": f"canary-kaggle-{TAG}"}))
    (folder / ".ssh").mkdir()
    (folder / ".ssh" / "id_ed25519").write_text(f"canary-ssh-{TAG}\n")
    return folder


@pytest.mark.sandbox
def test_the_keys_of_a_model_stay_with_its_gateway(tmp_path: Path) -> None:
    at_home = home(tmp_path.with_name(f"{tmp_path.name}-home"))
    (tmp_path / "agent.py").write_text(AGENT.replace("HOME", repr(str(at_home))))
    answers = (Answer(text="hi", usage=Usage(input=9, output=1), when="hello", times=0), Answer(text=JUDGED, times=0))
    env = canaries(
        MLECORE_VM_STATE=str(tmp_path / "state"),
        MLECORE_RULES=str(tmp_path / "answers"),
        HTTP_PROXY=f"http://user:canary-proxy-{TAG}@127.0.0.1:9",
        NO_PROXY="localhost,127.0.0.1",
        HOME=str(at_home),
        MLECORE_DISABLE_PLUGINS="detector:dolos",  # it would install itself
    )
    plan = [
        "run",
        "--competition",
        "optical-digits",
        "--backend",
        "vm",
        "--time-limit",
        "15m",
        "-G",
        "transcripts=true",
    ]
    plan += [
        "-G",
        "key=MODEL_KEY",
        "-G",
        "prices.scripted=1,1",
        "--group",
        "hunted",
        "--runs",
        "runs",
        "--data",
        "data",
    ]
    plan += ["-D", "rules.model=scripted", "-D", "rules.key=JUDGE_KEY"]
    agent = ["--agent", "command", "-A", "argv=python3 agent.py", "-A", f"pip={NAME}", "--model", "scripted"]
    with scripted_model(Script(answers=answers)) as model, package_index(f"canary-index-{TAG}") as index:
        env["PIP_INDEX_URL"] = index
        with watching() as watch:
            said = call(
                watch, env, tmp_path, *plan, *agent, "--endpoint", model.url, "-D", f"rules.endpoint={model.url}"
            )
            (record,) = load_group(tmp_path / "runs" / "hunted")
            assert record.state == "graded" and record.ended == "finished", said
            said += call(watch, env, tmp_path, "detect", "hunted", "--runs", "runs", "--detector", "leaks")
            said += call(watch, env, tmp_path, "report", "hunted", "--runs", "runs", "--output", "page.html")
            said += call(watch, env, tmp_path, "runs", "export", "hunted", "--runs", "runs", "--logs", "--to", "bundle")
    keys = [dict(request["headers"]) for request in model.served.requests]
    assert any(env["MODEL_KEY"] in str(headers) for headers in keys), "the gateway had it"
    assert any(env["JUDGE_KEY"] in str(headers) for headers in keys), "the judge had its own"
    assert f"{MODULE}==1.0" in str(record.dumps())
    assert watch.seen.get("canary-index"), "it watched closely enough to see the installer"
    assert watch.looked > 100
    assert others(watch) == {}
    assert watch.seen.get("canary-judge"), "it watched closely enough to see the one that may have its key"
    assert TAG not in said.replace(str(tmp_path), "")
    assert with_canary(tmp_path) == []
