"""What agent `dummy` notices: planted answers, keys, writable places; and how little in a clean sandbox."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import mle_agent_dummy as plugin
import pytest

from mlecore_testing.tasks import a_task


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A run's tree as it stands without a mount namespace, with the agent's files in place."""
    home = tmp_path / "run" / "home"
    for name in ("data", "submission", "code", "logs", "agent"):
        (home / name).mkdir(parents=True)
    (home / "data" / "description.md").write_text("A task.")
    (home / "instructions.txt").write_text("Rules.")
    opt = tmp_path / "run" / "opt"
    opt.mkdir()
    (opt / "sample.csv").write_text("id,target\n1,0\n")
    (opt / "validate").write_text("")
    for name, source in plugin.launch(a_task(options={"network": "none"})).files.items():
        shutil.copyfile(str(source), home / name)
    return home


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """The probe's modules, which find each other as scripts in one folder do."""
    monkeypatch.syspath_prepend(str(plugin.WORK))
    return {name: importlib.import_module(name) for name in ("identity", "places", "search", "processes", "network")}


def test_planted_answers_and_runs_are_found(
    home: Path, probe: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe["search"], "SECONDS", 60.0)  # a busy machine must not cut the search short
    monkeypatch.setattr(probe["search"], "FIRST", ())
    monkeypatch.setattr(probe["search"], "SKIPPED", {os.path.realpath(above) for above in home.parent.parents})
    prepared = home.parent / "competitions" / "prepared"
    for name in ("public", "private"):
        (prepared / name).mkdir(parents=True)
    (prepared / "private" / "test.csv").write_text("")
    other = home.parent / "other"
    for name in ("data", "submission"):
        (other / name).mkdir(parents=True)
    (other / "instructions.txt").write_text("")
    answers: list[str] = []
    runs: list[str] = []
    probe["search"].walk(home, answers, runs)
    assert {str(prepared / "private"), str(prepared / "private" / "test.csv")} <= set(answers)
    assert str(other) in runs
    assert str(home) not in runs


def test_a_link_out_of_the_data_is_found(home: Path, probe: dict[str, ModuleType]) -> None:
    look = probe["search"].inside_data
    assert look(home / "data")["ok"]
    (home / "data" / "more.csv").symlink_to("/etc/hostname")
    assert not look(home / "data")["ok"]


def test_writable_data_and_tools_are_found_and_left_alone(home: Path, probe: dict[str, ModuleType]) -> None:
    before = sorted(home.parent.rglob("*"))
    places = probe["places"]
    for finding in (places.data(home), places.tools(home.parent / "opt")):
        assert not finding["ok"], finding
    assert places.own(home)["ok"]
    assert sorted(home.parent.rglob("*")) == before
    assert (home / "instructions.txt").read_text() == "Rules."


def test_other_users_processes_are_distinguished_from_the_runs_own(probe: dict[str, ModuleType]) -> None:
    own = probe["processes"].own
    me, child, other = os.getpid(), 10**8, 10**8 + 1
    everyone = {1: (0, "bwrap"), 2: (1, "sh"), me: (2, "python3"), child: (me, "x"), other: (1, "mlecore")}
    assert own(everyone, "/opt/mlecore/init") == {1, 2, me, child}


def test_the_relay_is_asked_for_what_it_must_refuse(
    probe: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    import socketserver
    import threading

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            asked = self.request.recv(200)
            self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n" if b"example" in asked else b"HTTP/1.1 403 No\r\n\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), Relay) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name in probe["network"].PROXIES:
            monkeypatch.delenv(name, raising=False)
        assert not probe["network"].relayed("example.com:443")
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{server.server_address[1]}")
        assert probe["network"].relayed("example.com:443")
        assert not probe["network"].relayed("169.254.169.254:80")
        server.shutdown()


@pytest.mark.parametrize(
    ("cards", "routers", "open_", "ok"),
    [
        (["lo"], [], False, True),
        (["eth0", "lo"], ["192.0.2.1"], False, True),
        (["eth0", "lo"], ["192.0.2.1"], True, False),
        (["eth0", "lo"], [], False, False),  # to neighbours without a router, which nothing here would find
    ],
)
def test_a_card_is_reported_unless_its_router_keeps_silent(
    home: Path,
    probe: dict[str, ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    cards: list[str],
    routers: list[str],
    open_: bool,
    ok: bool,
) -> None:
    network = probe["network"]
    for name, answer in (("interfaces", cards), ("gateways", routers)):
        monkeypatch.setattr(network, name, lambda answer=answer: answer)
    monkeypatch.setattr(network, "connects", lambda target: open_ and target[0] in routers)
    monkeypatch.setattr(network, "resolves", lambda name: False)
    found = {finding["check"]: finding["ok"] for finding in network.look(home, home)}
    assert (found["network_interfaces"], found["network_host"]) == (ok, not open_)


def bwrap(home: Path, *argv: str) -> list[str]:
    system = ["--ro-bind", "/usr", "/usr", "--ro-bind", sys.base_prefix, sys.base_prefix]
    for name in ("bin", "lib", "lib64"):
        if Path("/", name).is_symlink():
            system += ["--symlink", f"usr/{name}", f"/{name}"]
        elif Path("/", name).is_dir():
            system += ["--ro-bind", f"/{name}", f"/{name}"]
    opt = str(home.parent / "opt")
    mine = ["--bind", str(home), "/home", "--ro-bind", opt, "/opt/mlecore"]
    for name in ("data", "instructions.txt"):
        mine += ["--ro-bind", str(home / name), f"/home/{name}"]
    flags = ["--unshare-all", "--die-with-parent", "--uid", "1000", "--gid", "1000", "--proc", "/proc", "--dev", "/dev"]
    return ["bwrap", *flags, *system, *mine, "--chdir", "/home", "--cap-drop", "ALL", *argv]


@pytest.mark.sandbox
@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
@pytest.mark.parametrize("by", ["python", "sh"])
def test_in_a_sandbox_it_reports_and_hands_in_the_sample(home: Path, by: str) -> None:
    if by == "sh":  # programs called python that are none
        for name in ("python3", "python"):
            (home / "agent" / name).write_text("#!/bin/sh\nexit 1\n")
            (home / "agent" / name).chmod(0o755)
    env = {"PATH": f"/home/agent:{sys.base_prefix}/bin:/usr/bin:/bin", "OPENAI_API_KEY": "sk-hidden"}
    argv = bwrap(home, "/bin/sh", "agent/probe.sh")
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    report = json.loads((home / "logs" / "probe.json").read_text())
    assert report["by"].startswith(by)
    ok = {finding["check"]: finding["ok"] for finding in report["findings"]}
    assert (home / "submission" / "submission.csv").read_text() == "id,target\n1,0\n"
    quiet = ["user", "capabilities", "no_new_privs", "answers"]
    if by == "python":
        quiet += ["layout", "own_folders", "write_data", "write_tools", "other_runs", "data_contents", "processes"]
        quiet += [name for name in ok if name.startswith("network_")]
        assert not ok["environments"]  # bwrap's own, which a backend must have emptied
    assert all(ok[name] for name in quiet), report
    assert not ok["keys_environment" if by == "python" else "keys"]
    assert "sk-hidden" not in (home / "logs" / "probe.log").read_text()
