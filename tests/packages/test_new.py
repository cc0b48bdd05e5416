"""`mlecore new` writes packages that install, are found, and hold to the rules, and nothing where it should not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from mle_lib_agents import programs
from mlecore_testing.models import Answer, Script, Tool, scripted_model

from mlecore.cli.new import command
from mlecore.errors import UsageError
from mlecore.registry.discovery import PREFIXES
from mlecore.scaffold import EXAMPLES, KINDS, Names, names, write

CLI = "from mlecore.cli import main; main()"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_installs_is_found_and_passes_its_tests(
    kind: str, install: Callable[[Path], None], run: Run, tmp_path: Path
) -> None:
    folder = write(names(kind, "Try-it.2"), tmp_path)
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
@pytest.mark.parametrize("example", ["groups", "images"])
def test_each_example_of_a_competition_passes_the_kit(
    example: str, install: Callable[[Path], None], run: Run, tmp_path: Path
) -> None:
    folder = write(names("competition", f"try-{example}", example), tmp_path)
    install(folder)
    tested = run("-m", "pytest", "-q", str(folder))
    assert tested.returncode == 0, tested.stdout


@pytest.mark.parametrize(
    "words", [["agent", "x", "--images"], ["competition", "x", "--images", "--groups"], ["competition", "x", "--model"]]
)
def test_examples_are_of_one_kind_and_exclude_each_other(words: list[str], tmp_path: Path) -> None:
    done = CliRunner().invoke(command, [*words, "--into", str(tmp_path)])
    assert isinstance(done.exception, UsageError), done.output
    assert not list(tmp_path.iterdir())


def _one_of_each() -> list[Names]:
    return [names(kind, f"my-{example}", example) for kind in KINDS for example in EXAMPLES[kind]]


def test_new_code_is_clean(tmp_path: Path) -> None:
    for package in _one_of_each():
        write(package, tmp_path)
    config = Path(__file__).parents[2] / "pyproject.toml"
    for words in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--config", str(config), str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


def test_answers_are_not_published(build: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = write(names("competition", "my-own"), tmp_path)
    private = folder / "mle_comp_my_own" / "data" / "my-own" / "prepared" / "private"
    private.mkdir(parents=True)
    (private / "answers.csv").touch()
    with zipfile.ZipFile(build(folder)) as wheel:
        assert "mle_comp_my_own/competition.toml" in wheel.namelist()
        assert not [name for name in wheel.namelist() if "answers" in name]


def test_answers_are_not_committed(tmp_path: Path) -> None:
    folder = write(names("competition", "my-own"), tmp_path)
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
    folder = write(names("agent", "my-own", "model"), tmp_path)
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
    made = names("detector", "my-own")
    folder = write(made, tmp_path)
    (folder / "README.md").write_text("mine")
    with pytest.raises(UsageError, match="already exists; nothing was written"):
        write(made, tmp_path)
    assert (folder / "README.md").read_text() == "mine"


@pytest.mark.parametrize("name", ["", "-x", "a b", "../x", "ä", "x" * 65, "a\n"])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not a plugin's name"):
        names("agent", name)


def test_a_name_that_brings_the_prefix_is_refused() -> None:
    with pytest.raises(UsageError, match="Name it my-own"):
        names("competition", "mle-comp-my-own")


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(UsageError, match="backend vm is installed already"):
        names("backend", "vm")
