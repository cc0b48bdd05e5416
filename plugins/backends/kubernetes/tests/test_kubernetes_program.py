"""The program in our pods: an agent's files come out safely and are resumed; data are taken in whole, or again."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from mle_backend_kubernetes import archive, manifests
from mle_backend_kubernetes.program import messages, receiving, sending, staging

from mlecore_jobs import seccomp
from mlecore_testing.backends.harness import shell_job


def test_the_program_runs_as_a_file_and_from_a_variable_and_asks_for_no_new_python(tmp_path: Path) -> None:
    """``-I`` keeps it from finding anything that is installed here."""
    packed = tmp_path / "helper.pyz"
    packed.write_bytes(archive.program())
    inline = manifests.inline_command("sizes")
    (variable,) = archive.inline()
    for command in ([sys.executable, "-I", packed, "sizes"], [sys.executable, *inline[1:]]):
        env = {variable["name"]: variable["value"]}
        assert subprocess.run(command, env=env, capture_output=True, check=True).stdout == b'{"end": true}\n'
    with zipfile.ZipFile(packed) as files:
        for name in files.namelist():
            ast.parse(files.read(name), feature_version=(3, 8))


CALLS = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(425, 1, None), os.strerror(ctypes.get_errno()))  # io_uring_setup
print([line for line in open("/proc/self/status") if line.startswith(("Seccomp:", "NoNewPrivs:"))])
print(os.access(f"/proc/{sys.argv[1]}/mem", os.W_OK), *sys.argv[2:])
"""


@pytest.mark.skipif(seccomp.here() is None, reason="there is no filter for this machine")
def test_an_agent_is_confined_before_it_begins(tmp_path: Path) -> None:
    helper, init, agent = (tmp_path / name for name in ("helper.pyz", "init", "agent.py"))
    helper.write_bytes(archive.program())
    init.write_text('"$@"\n')
    agent.write_text(CALLS)
    shell = f'exec {sys.executable} -I -S {helper} confine /bin/sh {init} {sys.executable} {agent} $$ "a b"'
    done = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True, check=True)
    refused, status, touched = done.stdout.splitlines()
    assert refused == "-1 Operation not permitted"
    assert status == "['NoNewPrivs:\\t1\\n', 'Seccomp:\\t2\\n']"
    assert touched == f"{os.getuid() == 0} a b"  # root may


@pytest.mark.parametrize("path", ["/nowhere", "/usr/bin:/bin"])
def test_an_image_that_cannot_confine_its_agent_runs_it_all_the_same(tmp_path: Path, path: str) -> None:
    """It has no Python, or one that fails: there is no helper here."""
    init = tmp_path / "init"
    init.write_text('"$@"\n')
    job = shell_job("echo ran", terminal=True)
    script, name, shell, _, *agent = (word.replace("$$", "$") for word in manifests.agent_command(job)[2:])
    done = subprocess.run(["/bin/sh", "-c", script, name, shell, init, *agent], env={"PATH": path}, capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"ran\n"), done.stderr


@pytest.fixture
def claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A claim with an agent's home."""
    claim = tmp_path / "claim"
    (claim / "home" / "logs").mkdir(parents=True)
    monkeypatch.setattr(receiving, "CLAIM", str(claim))
    monkeypatch.setattr(sending, "HOME", str(claim / "home"))
    return claim


def sent(monkeypatch: pytest.MonkeyPatch, *globs: str, **request: Any) -> dict[str, Any]:
    """What comes out: the content of files, the words of the others, by path."""
    out = io.BytesIO()
    asked = {"globs": globs, "max_bytes": 1 << 20, "max_files": 100, "done": [], **request}
    monkeypatch.setattr(messages, "incoming", io.BytesIO(line(**asked)))
    monkeypatch.setattr(messages, "outgoing", out)
    sending.send()
    out.seek(0)
    found: dict[str, Any] = {}
    while not (message := json.loads(out.readline())).get("end"):
        if message.get("content"):
            content = b""
            while length := struct.unpack(">I", out.read(4))[0]:
                content += out.read(length)
            found[message["path"]] = content
        elif "path" in message:
            found[message["path"]] = message.get("refused") or message.get("cut") or "does not fit"
    return found


def test_links_and_pipes_are_refused_and_locked_folders_opened(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = claim / "home"
    (home / "logs" / "plain").write_bytes(b"x")
    (home / "logs" / "link").symlink_to("/etc/passwd")
    os.mkfifo(home / "logs" / "pipe")
    (home / "code").symlink_to("/etc")
    (home / "logs" / "locked").mkdir()
    (home / "logs" / "locked" / "y").write_bytes(b"y")
    (home / "logs" / "locked").chmod(0)
    (home / "logs").chmod(0o400)
    home.chmod(0)
    assert sent(monkeypatch, "logs", "code/passwd") == {
        "logs/plain": b"x",
        "logs/link": "a symbolic link, not a file",
        "logs/pipe": "a FIFO, not a file",
        "logs/locked/y": b"y",
        "code": "a symbolic link, not a folder",
    }


def test_what_came_does_not_come_again(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "ab":
        (claim / "home" / "logs" / name).write_bytes(name.encode() * 10)
    assert sent(monkeypatch, "logs", done=["logs/a"]) == {"logs/b": b"b" * 10}


def received(monkeypatch: pytest.MonkeyPatch, given: bytes) -> list[dict[str, Any]]:
    out = io.BytesIO()
    monkeypatch.setattr(messages, "incoming", io.BytesIO(given))
    monkeypatch.setattr(messages, "outgoing", out)
    with contextlib.suppress(EOFError):  # the connection broke
        receiving.receive()
    return [message for line in out.getvalue().splitlines() if (message := json.loads(line))]  # no heartbeats


def line(**message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def test_data_that_broke_off_go_on_and_what_a_crash_spoilt_comes_again(
    claim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received(monkeypatch, line(path="a", size=3) + b"aaa" + line(path="b", size=9) + b"bbbb")
    first, end = received(monkeypatch, line(path="b", size=9) + b"b" * 9 + line(end=True))
    assert first == {"there": {"a": 3}}
    digest = hashlib.sha256()
    for name, size in (("a", 3), ("b", 9)):
        digest.update(f"{name}\0{size}\0{hashlib.sha256(name.encode() * size).hexdigest()}\n".encode())
    assert end == {"digest": digest.hexdigest(), "files": 2}
    (claim / "public" / "a").write_bytes(b"\0\0\0")
    assert received(monkeypatch, b"")[0] == {"there": {"b": 9}}


@pytest.mark.parametrize(
    ("policy", "in_force", "code"), [((0.2, True), True, 0), ((0.2, True), False, 6), ((0.0, False), False, 0)]
)
def test_where_policies_are_enforced_no_agent_begins_without_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: tuple[float, bool], in_force: bool, code: int
) -> None:
    for name in ("CLAIM", "HOME", "RUN", "TOOLS", "DATA", "FILES", "OUTPUT", "BUNDLE", "TERMINATION_LOG"):
        monkeypatch.setattr(staging, name, str(tmp_path / Path(getattr(staging, name)).relative_to("/")))
    Path(staging.FILES).mkdir(parents=True)
    with tarfile.open(Path(staging.FILES) / "files.tar.gz", "w:gz"):
        pass
    variables = {"MLECORE_POLICY": json.dumps(policy), "MLECORE_FROM_DATA": "{}", "MLECORE_WAIT_FOR": "[]"}
    for name, value in {**variables, "KUBERNETES_SERVICE_HOST": "h", "KUBERNETES_SERVICE_PORT": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(staging, "reached", lambda *_: not in_force)
    Path(staging.TERMINATION_LOG).parent.mkdir()
    assert staging.stage() == code
    assert Path(staging.TERMINATION_LOG).exists() == (code == 0)
    assert Path(staging.CLAIM, "started").exists() == (code == 0)
