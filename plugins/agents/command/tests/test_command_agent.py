"""The command line and the files of agent `command`, and the errors that its user meets."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import mle_agent_command as plugin
import pytest

from mlecore.errors import UsageError
from mlecore.model.agents import Launch
from mlecore.model.options import resolve
from mlecore_testing.tasks import a_task


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def launch(**given: str) -> Launch:
    options = resolve(plugin.agent().options, given, "agent command")
    result: Launch = plugin.launch(a_task(time_limit=90.0, seed=3, options=options))
    return result


def test_a_script_named_comes_along(here: Path) -> None:
    (here / "my_agent.py").write_text("print()")
    result = launch(argv="python my_agent.py --fast 'two words'")
    assert result.argv == ("python", "agent/my_agent.py", "--fast", "two words")
    assert result.files == {"agent/my_agent.py": here / "my_agent.py"}
    assert (result.network, result.env["COMPETITION_ID"], result.env["MLECORE_SEED"]) == (
        "none",
        "spaceship-titanic",
        "3",
    )


def test_what_a_script_imports_comes_along_and_nothing_else(here: Path) -> None:
    for name, text in {
        "solve.py": "import numpy, helper\nfrom model.net import Net\n",
        "helper.py": "import deeper\nimport solve",
        "deeper.py": "not python (",
        "model/net.py": "",
        "model/weights.bin": "",
        "other.py": "",
        "notes.txt": "",
    }.items():
        (here / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "src" / name).write_text(text)
    files = launch(argv="python src/solve.py notes.txt").files
    names = ("solve.py", "helper.py", "deeper.py", "model/net.py")
    assert files == {f"agent/src/{name}": here / "src" / name for name in names}
    assert set(launch(argv="python solve.py", files="src").files) >= {"agent/notes.txt", "agent/model/weights.bin"}


def test_earlier_runs_below_the_folder_stay_behind(here: Path) -> None:
    for name in (
        "runs/g/group.json",
        "runs/g/events.jsonl",
        "runs/g/a--b--0/grade.json",
        "runs/notes.txt",
        "group.json",
    ):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("")
    files = launch(argv="sh -c true", files=".").files
    assert {"agent/runs/notes.txt", "agent/group.json"} <= set(files)
    assert not [name for name in files if name.startswith("agent/runs/g/")]


def test_files_that_a_script_names_but_does_not_bring_are_noted(here: Path) -> None:
    for name in ("src/config.yaml", "src/prompts/a.txt", "src/unused.bin", "src/data/train.csv", "src/submission/x"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("")
    script = (
        'import helper\nopen("config.yaml"); open("data/train.csv"); open("../src/config.yaml"); print("", "\\0", "/")'
    )
    (here / "src" / "solve.py").write_text(script)
    (here / "src" / "helper.py").write_text('__file__ + "prompts"')
    (note,) = launch(argv="python src/solve.py").notes
    assert note.startswith("its script names config.yaml, prompts, which are not copied") and "-A files=" in note
    assert not launch(argv="python solve.py", files="src").notes
    assert not launch(argv="python src/solve.py src/config.yaml src/prompts/a.txt").notes[0].count("config")


def test_an_absolute_path_is_the_sandboxs_unless_it_is_below_the_current_folder(here: Path) -> None:
    (here / "my_agent.py").write_text("")
    outside = here.parent / "other.py"
    outside.write_text("")
    assert launch(argv=f"python {here}/my_agent.py").argv == ("python", "agent/my_agent.py")
    assert launch(argv=f"python {outside}").argv == ("python", str(outside))
    assert launch(argv="/bin/sh /home/agent/start.sh").files == {}


def test_an_image_runs_unchanged(here: Path) -> None:
    (here / "bash").write_text("not the shell that is meant")
    result = launch(image="aide:latest", argv="bash /home/agent/start.sh", network="open")
    assert (result.argv[-2:], result.files, result.network) == (("bash", "/home/agent/start.sh"), {}, "open")
    recipe = plugin.recipe({"image": "aide:latest", "argv": "bash /home/agent/start.sh"})
    assert (recipe.image, recipe.pip, recipe.programs) == ("aide:latest", (), ())
    assert launch(image="aide:latest", argv="bash start.sh").argv[-2:] == ("bash", "start.sh")
    with pytest.raises(UsageError, match="do not go together"):
        plugin.recipe({"image": "aide:latest", "argv": "x", "pip": "pandas"})


@pytest.mark.parametrize(("own", "steps"), [({}, "500"), ({"STEP_LIMIT": "7", "AGENT_DIR": "/srv"}, "7")])
def test_an_image_gets_the_variables_of_mle_bench(own: dict[str, str], steps: str) -> None:
    result = launch(image="aide:latest", argv="env")
    said = subprocess.run(result.argv, env={**own, **result.env}, capture_output=True, text=True, check=True).stdout
    variables = dict(line.split("=", 1) for line in said.splitlines())
    assert (variables["TIME_LIMIT_SECS"], variables["TIME_LIMIT"]) == ("90", "0hrs 1mins 30secs")
    assert (variables["STEP_LIMIT"], variables["AGENT_DIR"]) == (steps, own.get("AGENT_DIR", "/home/agent"))
    assert variables["SUBMISSION_DIR"] == "/home/submission"
    assert {"COMPETITION_ID", "CODE_DIR", "LOGS_DIR", "HARDWARE"} <= variables.keys()
    assert "TIME_LIMIT_SECS" not in launch(argv="true").env


def test_an_executable_named_is_started_without_its_mode(here: Path, tmp_path: Path) -> None:
    script = here / "go.sh"
    script.write_text('#!/bin/sh\necho "$1" in $(pwd)\n')
    script.chmod(0o755)
    result = launch(argv="./go.sh 'a  b'")
    home = tmp_path / "home"
    for name, source in result.files.items():
        (home / name).parent.mkdir(parents=True)
        assert isinstance(source, Path)
        shutil.copyfile(source, home / name)  # no mode
    done = subprocess.run(result.argv, cwd=home, capture_output=True, text=True, check=True)
    assert done.stdout == f"a  b in {home}\n"


def test_a_folder_comes_along_without_its_ballast(here: Path) -> None:
    for name in ("my_agent/main.py", "my_agent/lib/tools.py", "my_agent/.git/config", "my_agent/lib/__pycache__/x.pyc"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("")
    for argv in ("python main.py", "python my_agent/main.py", "python agent/main.py"):
        result = launch(files="my_agent", argv=argv)
        assert result.argv == ("python", "agent/main.py"), argv
        assert sorted(result.files) == ["agent/lib/tools.py", "agent/main.py"]
    (here / "run.py").write_text("")
    assert sorted(launch(files="my_agent", argv="python run.py").files)[-1] == "agent/run.py"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"argv": ""}, "argv is empty"),
        ({"argv": "python 'my_agent.py"}, "no closing quotation"),
        ({"argv": "python my_agnt.py"}, "there is no such file in .*here"),
        ({"argv": "python -u my_agnt.py"}, "there is no such file in .*here"),
        ({"argv": "./my_agnt"}, "there is no such file"),
        ({"argv": "python x.py", "files": "nowhere"}, "files=nowhere: there is no"),
        ({"argv": "python a/main.py b/../main.py ../main.py"}, "both become agent/main.py"),
        ({"argv": "date", "secrets": "MY_KEY"}, "a variable that it may not pass on"),
        ({"argv": "main.py"}, "starts main.py, a file"),
        ({"argv": "main"}, "starts main, a file"),
        ({"argv": "cd a && python main.py"}, "'cd' needs"),
        ({"argv": "X=1 python main.py"}, "'X=1' needs"),
        ({"argv": "python main.py > out.txt"}, "'>' needs"),
        ({"argv": 'python main.py --to "$HOME" $HOME/x'}, r"'\$H' needs"),
        ({"argv": "python main.py", "pip": "requirements.txt"}, "requirements.txt does not exist"),
        ({"argv": "python main.py", "pip": "env/reqs"}, "env/reqs does not exist"),
    ],
)
def test_errors_say_what_is_wrong_and_how_to_fix_it(given: dict[str, str], says: str, here: Path) -> None:
    (here / "a").mkdir()
    (here / "b").mkdir()
    for name in ("a/main.py", "main.py", "../main.py", "main"):
        (here / name).write_text("")
    with pytest.raises(UsageError, match=says) as caught:
        plugin.recipe(given)
        launch(**given)
    assert caught.value.fix


def test_a_file_to_be_written_need_not_exist(here: Path) -> None:
    (here / "my_agent.py").write_text("")
    assert launch(argv="python my_agent.py --save best.py").argv[-1] == "best.py"


def test_the_submission_may_be_elsewhere() -> None:
    assert launch(argv="date").candidates == ("submission/submission.csv",)
    assert launch(argv="date", submission="working/*.csv").candidates == ("working/*.csv",)
    with pytest.raises(UsageError, match="submission: '/tmp/x'"):
        launch(argv="date", submission="/tmp/x")
