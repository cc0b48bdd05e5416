"""`mlecore new` writes clean packages that keep answers private, and overwrites nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mle_ext_own_data.examples import EXAMPLES as COMPETITIONS
from mle_ext_own_data.examples import example as competition
from mle_lib_agents import programs

from mlecore.errors import UsageError
from mlecore_testing.models import Answer, Script, Tool, scripted_model
from mlecore_testing.scaffold import EXAMPLES, KINDS, package, write


def test_new_code_is_clean(tmp_path: Path) -> None:
    for kind in KINDS:
        for example in EXAMPLES[kind]:
            write(package(kind, f"my-{example}", example), tmp_path)
    for example in COMPETITIONS:
        write(competition(f"my-{example}", example), tmp_path)
    config = Path(__file__).parents[4] / "pyproject.toml"
    for words in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--config", str(config), str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


def test_answers_are_not_committed(tmp_path: Path) -> None:
    folder = write(competition("my-own"), tmp_path)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for data in (folder / "data", folder, folder / "mle_comp_my_own"):
        private = data / "my-own" / "synthetic" / "prepared" / "private"
        private.mkdir(parents=True)
        (private / "answers.csv").touch()
    done = subprocess.run(
        ["git", "-C", str(folder), "status", "--short", "-uall"], capture_output=True, text=True, check=True
    )
    assert "competition.toml" in done.stdout
    assert "answers.csv" not in done.stdout


@pytest.mark.slow
def test_an_agent_with_a_model_says_how_it_ended(tmp_path: Path) -> None:
    """Its loop, outside of a sandbox; docs/agents.md runs it in one."""
    folder = write(package("agent", "my-own", "model"), tmp_path)
    home = tmp_path / "home"
    for name in ("agent", "logs", "submission"):
        (home / name).mkdir(parents=True)
    for name, path in programs(folder / "mle_agent_my_own" / "work", "clock.py", "commands.py", "ending.py").items():
        (home / name).write_bytes(path.read_bytes())
    (home / "validate_submission.sh").write_text("head -1 $1 | grep id || { echo the header is wrong; exit 1; }")

    def run(*answers: Answer, limit: float = 60.0) -> tuple[str, list[str]]:
        """What it reports, and the last messages that the model saw."""
        with scripted_model(Script(answers=answers)) as served:
            env = {"PATH": os.environ["PATH"], "MLECORE_HOME": str(home), "MLECORE_TIME_LIMIT": str(limit)}
            env |= {"OPENAI_BASE_URL": served.url, "OPENAI_API_KEY": "token"}
            argv = [sys.executable, "agent/main.py", "scripted", "5"]
            subprocess.run(argv, cwd=home, env=env, input="The task.", text=True, check=True, capture_output=True)
            seen = [request["body"]["messages"][-1]["content"] for request in served.served.requests]
        return (home / "logs" / "outcome").read_text(), seen

    def shell(shell_command: str) -> Answer:
        return Answer(tools=(Tool(name="shell", arguments={"command": shell_command}),))

    submit = Answer(tools=(Tool(name="submit"),))
    wrong, right = (shell(f"echo {header} >submission/submission.csv") for header in ("y", "id"))
    outcome, seen = run(wrong, submit, Answer(text="I think."), right, submit)
    assert outcome == "submitted\n"
    assert seen[0] == "The task." and "the header is wrong" in seen[2] and "Go on with a tool" in seen[3]
    assert run(Answer(tools=(Tool(name="shell", arguments="[1]"),), times=0))[0] == "steps_used\n"
    assert run(shell("true"), limit=20.0)[0] == "time_up\n"
    assert run(Answer(status=403, text="no budget"))[0].startswith("no_answer: Error code: 403")


def test_it_overwrites_nothing(tmp_path: Path) -> None:
    made = package("detector", "my-own")
    folder = write(made, tmp_path)
    (folder / "README.md").write_text("mine")
    with pytest.raises(UsageError, match="already exists; nothing was written"):
        write(made, tmp_path)
    assert (folder / "README.md").read_text() == "mine"


@pytest.mark.parametrize("name", ["", "-x", "a b", "../x", "ä", "x" * 65, "a\n"])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not a plugin's name"):
        package("agent", name)


def test_a_name_that_brings_the_prefix_is_refused() -> None:
    with pytest.raises(UsageError, match="Name it my-own"):
        competition("mle-comp-my-own")


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(UsageError, match="backend vm is installed already"):
        package("backend", "vm")
