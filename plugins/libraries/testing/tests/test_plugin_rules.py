"""The kits for agents, backends and detectors find out what is broken; what is whole breaks no rule."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from mlecore.cli.plugins import command as plugins
from mlecore.model.backends import Handle
from mlecore.plugins.loading import load
from mlecore_testing import check_agent, check_detector
from mlecore_testing.agents import RULES as AGENT_RULES
from mlecore_testing.agents.harness import AgentBench
from mlecore_testing.backends import RULES as BACKEND_RULES
from mlecore_testing.backends.harness import BackendBench
from mlecore_testing.detectors import RULES as DETECTOR_RULES
from mlecore_testing.detectors.harness import DetectorBench
from mlecore_testing.rules import Stop, Undecided

Install = Callable[..., str]
CODE = "__init__.py"
RULES = {"agent": AGENT_RULES, "backend": BACKEND_RULES, "detector": DETECTOR_RULES}
BENCHES = {"agent": AgentBench, "backend": BackendBench, "detector": DetectorBench}

BROKEN = {
    "an agent with a default that does not fit": (
        "agent",
        "declares",
        {CODE: ('default="4"', 'default="four"')},
        "its default 'four' must be an integer",
    ),
    "a recipe that is not a requirement": (
        "agent",
        "recipe",
        {CODE: ('"pandas>=2.2,<3"', '"pandas >< 3"')},
        "is not a requirement",
    ),
    "a recipe in a set's order": (
        "agent",
        "recipe",
        {CODE: ('("pandas>=2.2,<3",)', "tuple(set('abcdefgh'))")},
        "a different digest in another process",
    ),
    "a key that was not declared": (
        "agent",
        "launch",
        {CODE: ("        files=", '        secrets=("SOME_KEY",),\n        files=')},
        "secret SOME_KEY is not declared by agent()",
    ),
    "a file outside of home": (
        "agent",
        "launch",
        {CODE: ('files={"agent/main.py"', 'files={"../main.py"')},
        "'../main.py' is not a path below home",
    ),
    "a launch that writes": (
        "agent",
        "pure",
        {CODE: ("    return Launch(", "    Path(__file__).touch()\n    return Launch(")},
        "it writes",
    ),
    "an agent that assumes /home": ("agent", "home", {CODE: ("str(task.data)", "'/home/data'")}, "assumes /home;"),
    "usage that is none": (
        "agent",
        "usage",
        {CODE: ("", "\n\n@hookimpl\ndef usage(logs: Path):\n    return 5\n")},
        "the result is 5 (int); expected",
    ),
    "a detector that follows links": (
        "detector",
        "detects",
        {CODE: ("path.is_symlink() or not path.is_file()", "not path.read_text()")},
        "its hook detect failed",
    ),
    "a detector that accuses everybody": (
        "detector",
        "calm",
        {CODE: ('"suspicious" if same else "clean"', '"violation"')},
        "run first-0, an honest one: violation: same-submission",
    ),
    "a detector that leaves notes": (
        "detector",
        "untouched",
        {CODE: ("    smallest = int", "    (run.folder / 'note').touch()\n    smallest = int")},
        "runs/kit/first-0/note: it was made",
    ),
    "a detector that looks at the answers": (
        "detector",
        "blind",
        {
            CODE: (
                "group: Sequence[RunRecord], options: Mapping[str, str]) -> Detection:\n",
                "group: Sequence[RunRecord], options: Mapping[str, str], public: Path | None) -> Detection:\n"
                "    if public:\n        (public.parent / 'private' / 'test.csv').read_text()\n",
            )
        },
        "private/test.csv",
    ),
    "a detector that invents its evidence": (
        "detector",
        "detects",
        {
            CODE: (
                'evidence=(Evidence(file="submission/submission.csv"),) if same else ()',
                'evidence=(Evidence(file="code/main.py", line=2, quote="os.system"),)',
            )
        },
        "which code/main.py does not say",
    ),
    "a backend that starts again": (
        "backend",
        "once",
        {"folders.py": ("            os.close(lock)\n            return None", "            pass")},
        "ran ",
    ),
    "a backend that forgets the limit": (
        "backend",
        "cut",
        {"backend.py": ("into, max_bytes, max_files, outside)", "into, 9 << 20, max_files, outside)")},
        "with a limit of 1 MiB it fetched",
    ),
    "a backend that hands over everything": (
        "backend",
        "secrets",
        {"processes.py": ("        **secret_values(job),", "        **os.environ,")},
        "a variable of the controller that the job does not name",
    ),
    "a backend with its own globs": (
        "backend",
        "globs",
        {"backend.py": ("folder.home, globs,", "folder.home, [glob.replace('**', '*') for glob in globs],")},
        "for submission/**/* it fetched",
    ),
    "a backend that trusts the agent with the relay's log": (
        "backend",
        "hostile",
        {"backend.py": ("outside = folder.path", 'outside = folder.home / "logs"')},
        "a job without a relay wrote logs/relay.jsonl",
    ),
    "a backend with its own variables": (
        "backend",
        "variables",
        {"processes.py": ("        **environment(", "        **(lambda *job, **paths: {})(")},
        "a job has no variable MLECORE_CPUS",
    ),
    "a backend that says it in a dialect": (
        "backend",
        "describes",
        {"backend.py": ("        return Sandbox(", "        return dict(")},
        "which is not a Sandbox",
    ),
    "a backend that only claims a limit": (
        "backend",
        "processes",
        {"backend.py": ("processes=nobody", 'processes=Enforcement(level="enforced", how="good will")')},
        "went far beyond",
    ),
    "a backend that promises what it cannot give": (
        "backend",
        "preflight",
        {"backend.py": ("resources.gpus or resources.terminal", "resources.terminal")},
        "10,000 GPUs",
    ),
    "a backend that only claims to isolate": (
        "backend",
        "apart",
        {"backend.py": ("isolation=None", 'isolation="good will"')},
        "reads a file of the controller that",
    ),
    "a backend that only claims to shut off the network": (
        "backend",
        "network",
        {"backend.py": ("network=nobody", 'network=Enforcement(level="enforced", how="good will")')},
        "a job without a network reaches this machine",
    ),
}


@pytest.fixture
def tried(install: Install, tmp_path: Path) -> Callable[..., list[str]]:
    """``tried(kind, rule, edits)``: what a rule says of a new plugin with these edits."""

    def judged(kind: str, rule: str, edits: dict[str, tuple[str, str]] | None = None) -> list[str]:
        options = {"trust": "true", "folder": str(tmp_path / "jobs")} if kind == "backend" else {}
        folder = tmp_path / "harness"
        folder.mkdir(exist_ok=True)
        harness = BENCHES[kind](load(kind, install(kind, "odd", edits)), options, folder)
        (test,) = [one.test for one in RULES[kind] if one.name == rule]
        try:
            return [str(broken) for broken in test(harness)]
        except Stop as reason:
            return [str(reason)]
        except Undecided:
            return []
        finally:
            if isinstance(harness, BackendBench):
                harness.clear()

    return judged


@pytest.mark.slow
@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_plugin_is_found_out(tried: Callable[..., list[str]], what: str) -> None:
    kind, rule, edits, expected = BROKEN[what]
    found = tried(kind, rule, edits)
    assert any(expected in place for place in found), found


def test_plugins_show_names_what_a_backend_lacks(install: Install) -> None:
    edits = {"backend.py": ("def describe(self)", "def described(self)")}
    shown = CliRunner().invoke(plugins, ["show", install("backend", "silent", edits)])
    assert shown.exit_code == 1 and "broken" in shown.output and "abstract method" in shown.output
    assert "describe" in shown.output


def test_a_job_counts_as_running_before_its_processes_can_be_seen(install: Install, tmp_path: Path) -> None:
    """For a moment after exec, /proc shows no environment, by which the processes are found."""
    options = {"trust": "true", "folder": str(tmp_path / "jobs")}
    bench = BackendBench(load("backend", install("backend", "slow")), options, tmp_path)
    job = bench.job("echo done")
    folder = bench.backend._folder(job.name)  # type: ignore[attr-defined]
    folder.lay_out(job)
    lock = folder.claim()
    handle = Handle(name=job.name, id=job.name)
    assert bench.status(handle).phase == "running" and folder.claim() is None
    os.close(lock)  # whoever was starting it died
    assert bench.status(handle).infra_failure


def test_whole_agents_and_detectors_break_no_rule(install: Install) -> None:
    assert [skipped.rule for skipped in check_agent(install("agent", "fine"))] == ["usage"]
    assert check_detector(install("detector", "fine")) == []
