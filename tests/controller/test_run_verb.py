"""`mlecore run` in words: what is wrong is said before anything starts."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.data.layout import DataDirs
from mlecore.errors import UsageError
from mlecore.runs.planning import make_plan
from mlecore.runs.store import create_group, open_group


@pytest.fixture
def verb(lab):
    def call(*more: str, agent: str = "worker", competition: str = "coins") -> tuple[int, str]:
        base = [
            "run",
            "--agent",
            agent,
            "--competition",
            competition,
            "--backend",
            "folders",
            "-B",
            f"root={lab.backend_root}",
            "--no-detect",
        ]
        result = CliRunner().invoke(main, [*base, "--data", str(lab.data), "--runs", str(lab.runs), *more])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return call


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["-D", "how=well"], "expected -D PLUGIN.NAME=VALUE"),
        (["-A", "colour=red"], "no option 'colour'"),
        (["-B", "colour=red"], "no option 'colour'"),
        (["-A", "code=soon"], "must be an integer"),
        (["--plan", "x.toml"], "a plan cannot be combined with agent, competition, backend, backend_options"),
        (["--edition", "v9"], "no edition 'v9'"),
        (["--split", "nosuch"], "unknown split"),
        (["--group", "../x"], "cannot be a group's name"),
        (["--disk", "100"], "Write the unit, e.g. 100GB."),
        (["--model", "gpt-5"], "--endpoint https://api.example.com/v1"),
        (["--label", "a", "--label", "b"], "--label is given twice for worker"),
    ],
)
def test_wrong_usage_starts_nothing(verb, lab, more, words):
    code, output = verb(*more)
    assert code == 2 and words in output
    assert not lab.runs.exists() or not list(lab.runs.iterdir())


def test_flags_become_a_plan(verb, lab):
    code, output = verb("--group", "mine", "-A", "code=1", "--seeds", "2", "--time-limit", "30m", "--max-parallel", "1")
    assert code == 0 and "2 runs: 2 valid" in output and "mlecore report mine" in output, output
    plan = open_group(lab.runs / "mine").plan
    assert plan.agents[0].options == {"code": "1"} and plan.seeds == (0, 1) and plan.limits.time == 1800
    shown = CliRunner().invoke(main, ["runs", "show", "mine/worker--coins--0", "--runs", str(lab.runs)]).output
    first, result, state, *_ = shown.splitlines()
    assert first.startswith("run:         mine/worker--coins--0 (") and state.startswith("state:       graded, crashed")
    assert result.startswith("result:      score 0.3 (higher is better)") and "no medals: " in result, result
    code, output = verb("--group", "mine", "-A", "code=2")
    assert code == 2 and "another plan" in output


def test_a_group_grows_by_runs_and_an_edited_plan_is_not_resumed(verb, lab):
    def runs(command: str, *more: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["runs", command, "mine", "--runs", str(lab.runs), *more])
        return done.exit_code, done.output

    assert verb("--group", "mine")[0] == 0
    code, output = runs("resume", "--competition", "nosuch")
    assert code == 2 and len(open_group(lab.runs / "mine").plan) == 1, output
    code, output = runs("resume", "--seeds", "1,")
    assert code == 0 and "2 runs: 2 valid" in output and runs("verify")[0] == 0, output
    assert runs("resume", "--seeds", "1")[0] == 0 and open_group(lab.runs / "mine").plan.seeds == (0, 1)
    plan = lab.runs / "mine" / "plan.toml"
    plan.write_text(plan.read_text().replace("seeds = 2", "seeds = 3"))
    for more in ((), ("--seeds", "4")):
        code, output = runs("resume", *more)
        assert code == 2 and "was edited" in output and not (lab.runs / "mine/worker--coins--2").exists()
    assert runs("verify")[0] == 1


def test_a_group_is_complete_before_it_has_its_name(lab):
    """Of two commands that create one group at once, one does, and the other is told so."""
    with ThreadPoolExecutor(8) as pool:
        tried = list(pool.map(lambda _: create(lab.runs), range(8)))
    assert sorted(tried) == ["created", *["the group same already exists"] * 7]
    assert [folder.name for folder in lab.runs.iterdir()] == ["same"]


def create(runs: Path) -> str:
    try:
        create_group(runs, "same", make_plan({"agents": [{"name": "worker"}], "competitions": ["coins"]}))
    except UsageError as error:
        return error.message.partition(" in ")[0]
    return "created"


def test_a_folder_that_takes_no_group_is_named(verb, tmp_path):
    (tmp_path / "file").touch()
    code, output = verb("--runs", str(tmp_path / "file" / "runs"))
    assert code == 3 and f"no group can be created in {tmp_path}/file/runs" in output and "--runs DIR" in output


def test_each_option_and_of_several_models_each_belongs_to_the_agent_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from mlecore.cli import run as verb

    plans = []
    monkeypatch.setattr(verb, "perform", lambda plan, *_: plans.append(plan))
    flags = ["--competition", "optical-digits", "--endpoint", "http://localhost:1/v1"]
    agents = ["--agent", "command", "-A", "argv=true", "--model", "m", "--agent", "command", "-A", "argv=false"]
    assert CliRunner().invoke(main, ["run", *agents, "--model", "n", *flags]).output == ""
    first, second = plans[0].agents
    assert (dict(first.options), first.model) == ({"argv": "true"}, "m")
    assert (dict(second.options), second.model, second.label) == ({"argv": "false"}, "n", "command-2")
    names = ["--agent", "baseline", "--agent", "aide", "--agent", "react"]
    for given in (["--model", "m", *names], [*names, "--model", "m"]):
        assert CliRunner().invoke(main, ["run", *given, *flags]).output == ""
        plan = plans[-1]
        assert [agent.model for agent in plan.agents] == [None, "m", "m"]
        assert [plan.limits_of(agent).network for agent in plan.agents] == ["none", "llm", "llm"]
    for mistake, words in (
        (["-A", "argv=true", "--agent", "command", "--agent", "baseline"], "-A comes before the first"),
        (["--agent", "command", "--model", "a", "--model", "b"], "--model is given twice for command"),
        (["--agent", "command", "--agent", "baseline", "--model", "a", "--model", "b"], "twice for baseline"),
    ):
        result = CliRunner().invoke(main, ["run", *mistake, *flags])
        assert result.exit_code == 2 and words in result.output, result.output


@pytest.fixture
def prepared(verb, lab, tmp_path):
    """The prepared data of `coins`, which this test may change."""
    lab.data = tmp_path / "own-data"
    assert verb("--group", "first")[0] == 0
    [found] = DataDirs.of([lab.data]).all()
    return found.root


def test_changed_data_start_nothing(verb, lab, prepared):
    with (prepared / "public/description.md").open("a") as file:
        file.write("1,1\n")
    code, output = verb("--group", "g")
    assert code == 3 and not (lab.runs / "g").exists(), output
    assert "coins: the data in" in output and "public/description.md: has" in output, output
    assert f"mlecore prepare coins --data {lab.data} --force" in output.replace(" --synthetic", ""), output
    code, output = verb("--group", "first")  # resumed: its finished runs stay as they are
    assert code == 0, output


@pytest.mark.slow
def test_verify_data_reads_all_files(verb, lab, prepared):
    def planned() -> tuple[int, str]:
        plan = lab.root / "plan.toml"
        plan.write_text(
            'competitions = ["coins"]\nagents = [{ name = "worker" }]\n'
            "execution = { verify_data = true, detect = false }\n"
            f'backend = {{ name = "folders", options = {{ root = "{lab.backend_root}" }} }}\n'
        )
        words = ["run", "--plan", str(plan), "--group", "g", "--data", str(lab.data), "--runs", str(lab.runs)]
        done = CliRunner().invoke(main, words)
        return done.exit_code, done.output

    path = prepared / "public/description.md"
    status, content = path.stat(), path.read_bytes()
    path.write_bytes(content[:-2] + b"~" + content[-1:])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert verb("--group", "quick")[0] == 0
    code, output = planned()
    assert code == 3 and "public/description.md: has other content" in output, output
    path.write_bytes(content)
    code, output = planned()
    assert code == 0 and "comparing the content of all of its files" in output, output


@pytest.mark.slow
def test_changed_answers_grade_nothing(lab, prepared):
    submission = lab.root / "s.csv"
    submission.write_bytes((prepared / "public/sample.csv").read_bytes())
    words = [str(submission), "coins", "--data", str(lab.data)]
    for verb in ("grade", "check"):
        result = CliRunner().invoke(main, [verb, *words])
        assert result.exit_code == 0, result.output
    answers = next(path for path in (prepared / "private").iterdir())
    answers.write_text(answers.read_text().replace(",1", ",0", 1))
    result = CliRunner().invoke(main, ["grade", *words])
    assert result.exit_code == 3 and f"private/{answers.name}: has other content" in result.output, result.output
    assert CliRunner().invoke(main, ["check", *words]).exit_code == 0
