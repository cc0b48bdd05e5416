"""Plans: one parser for flags, arguments and files; every mistake is named."""

from __future__ import annotations

import os
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import pytest
from attrs import evolve
from click.testing import CliRunner

import mlecore
from mlecore.cli.run import command
from mlecore.errors import UsageError
from mlecore.model.plan import PlannedGateway
from mlecore.model.record import Limits
from mlecore.runs.arguments import Arguments, as_dictionary, plan_of
from mlecore.runs.planning import make_plan, parse_plan, read_plan, write_plan
from mlecore.util.units import duration, size, write_duration

PLAN = """
competitions = ["a", "b"]
seeds = 3

[[agents]]
name = "aide"
[agents.options]
depth = 3
fast = true

[[agents]]
name = "aide"
label = "other"
model = "m2"

[model]
name = "m1"
endpoint = "http://localhost:8000/v1"

[backend]
name = "docker"
options = { gpus = "0,1" }

[limits]
time = "1h30m"
memory = "16GB"
cpus = 2
gpus = 1
allow = ["example.org"]

[data]
synthetic = true

[execution]
max_parallel = 4
"""


def test_a_whole_experiment():
    plan = parse_plan(PLAN)
    assert len(plan) == 12 and plan.seeds == (0, 1, 2)
    first, second = plan.agents
    assert (first.label, second.label) == ("aide", "other")
    assert first.options == {"depth": "3", "fast": "true"}
    assert (first.model, second.model, second.endpoint) == ("m1", "m2", "http://localhost:8000/v1")
    assert plan.limits == Limits(time=5400, memory=16 * 10**9, cpus=2, gpus=1, network="llm", allow=("example.org",))
    assert plan.backend.options == {"gpus": "0,1"} and plan.data.synthetic and plan.execution.max_parallel == 4
    assert [run.name for run in plan.runs()][:2] == ["aide--a--0", "aide--a--1"]


def test_several_splits_make_one_list_of_competitions(monkeypatch: pytest.MonkeyPatch) -> None:
    from mlecore.plugins import competitions

    parts = {"low": ["a", "b"], "dev": ["c"]}
    monkeypatch.setattr(competitions, "of_split", lambda split: [SimpleNamespace(id=id) for id in parts[split]])
    values = {"agents": [{"name": "aide"}], "competitions": ["b"]}
    assert make_plan({**values, "split": "low"}).competitions == ("b", "a")
    plan = make_plan({**values, "split": ["low", "dev"]})
    assert plan.competitions == ("b", "a", "c") and plan.split == ()
    with pytest.raises(UsageError, match="split: expected text, or a list of texts"):
        make_plan({**values, "split": 3})


def test_written_and_read_again():
    odd = {"argv": 'python "x y.py" \\ ü\n\t\x7f', "a b": "1", "": ""}
    plan = make_plan(
        {
            "agents": [
                {"name": "command", "options": odd},
                {"name": "command", "model": "m", "endpoint": "http://e", "limits": {"time": "90s", "gpus": 0}},
            ],
            "competitions": ["a"],
            "seeds": [7, 4],
            "limits": {"time": 0.1 + 0.2, "disk": 5_000_001, "cpus": 0.5},
            "backend": {"options": {"x": ""}},
            "execution": {"max_parallel": 3, "retries": 0},
        }
    )
    again = parse_plan(write_plan(plan))
    assert again == plan and again.execution == plan.execution
    assert [agent.label for agent in again.agents] == ["command", "command-2"]
    assert again.agents[0].options == odd


@pytest.mark.parametrize(
    ("given", "network"),
    [
        ({}, "none"),
        ({"model": {"name": "m", "endpoint": "http://e"}}, "llm"),
        ({"agents": [{"name": "a"}, {"name": "b", "model": "m", "endpoint": "http://e"}]}, "llm"),
        ({"limits": {"allow": ["example.org"]}}, "llm"),
        ({"limits": {"allow": ["example.org"], "network": "open"}}, "open"),
        ({"limits": {"network": "none"}, "model": {"name": "m"}}, "none"),
    ],
)
def test_a_model_brings_a_relay_unless_the_network_is_named(given, network):
    plan = make_plan({"agents": [{"name": "a"}], "competitions": ["c"], **given})
    assert plan.limits.network == network


def test_flags_arguments_and_a_file_spell_the_same_plan(tmp_path):
    """One of each key, so that none can be lost on the way."""
    arguments = {
        "agent": "aide",
        "options": {"depth": "3"},
        "competition": ["a", "b"],
        "seeds": 2,
        "backend": "docker",
        "backend_options": {"x": "1"},
        "time_limit": "2h",
        "cpus": 1.5,
        "memory": "1GB",
        "gpus": 1,
        "disk": 10**9,
        "network": "open",
        "allow": ["example.org"],
        "mcp": {"search": {"url": "https://mcp.example.org/mcp", "headers": {"Authorization": "SEARCH_TOKEN"}}},
        "secret": "HF_TOKEN",
        "model": "m",
        "endpoint": "http://e",
        "gateway": {"key": "MY_KEY", "prices": {"m": {"input": 1.0, "output": 2.0}, "web_search": {"use": 0.01}}},
        "edition": "v2",
        "synthetic": True,
        "obfuscate": "full",
        "max_parallel": 2,
        "retries": 1,
        "model_check": False,
        "verify_data": True,
        "detect": False,
        "detectors": {"d": {"o": "1"}},
    }
    assert set(arguments) | {"split"} == set(Arguments.__annotations__)
    assert set(Arguments.__annotations__) <= set(signature(mlecore.run).parameters)
    flags = {flag.name for flag in command.params if flag.name}
    assert set(Arguments.__annotations__) - {"model_check", "verify_data"} <= flags

    plan = plan_of(None, arguments)
    path = tmp_path / "plan.toml"
    path.write_text(write_plan(plan))
    default = make_plan({"agents": [{"name": "x"}], "competitions": ["x"]})
    for key in ("agents", "competitions", "seeds", "backend", "limits", "gateway", "data", "execution"):
        assert getattr(plan, key) != getattr(default, key), key
    for given in (path, str(path), as_dictionary(arguments), plan):
        again = plan_of(given, {})
        assert again == plan and again.execution == plan.execution
    assert plan_of(path, {"retries": 7}).execution == evolve(plan.execution, retries=7)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"gateway": {"budgets": ["5eur"]}}, "'5eur' is not a budget"),
        ({"gateway": {"prices": {"m": {"input": 1}}}}, "that of m is not a price"),
        ({"gateway": {"prices": {"m": {"input": 1, "use": 1}}}}, "that of m is not a price"),
        ({"gateway": {"allow": ["/v1/images/*"]}}, "gateway.allow: '/v1/images/.' is not a method and a path"),
        ({"gateway": {"retries": -1}}, "gateway.retries cannot be less than 0"),
        ({"limits": {"secrets": ["PATH"]}}, "PATH cannot be passed"),
        ({"limits": {"secrets": ["MLECORE_HOME"]}}, "MLECORE_HOME cannot be passed"),
        ({"model": {"endpoint": "localhost:8000"}}, "the endpoint of agent"),
    ],
)
def test_what_a_gateway_cannot_be_given(given, words):
    with pytest.raises(UsageError, match=words):
        make_plan({"agents": [{"name": "a"}], "competitions": ["c"], **given})


def test_a_plan_and_arguments_contradict():
    with pytest.raises(UsageError, match="a plan cannot be combined with agent, seeds"):
        plan_of(parse_plan(PLAN), {"agent": "x", "seeds": 1, "model": None})
    with pytest.raises(UsageError, match="max_parallel must be more than 0"):
        plan_of(parse_plan(PLAN), {"max_parallel": 0})


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("seeds = 3", "seeds = 0", "at least 1"),
        ("seeds = 3", "seeds = [1, 1]", "seed 1 is given twice"),
        ("seeds = 3", "seeds = [12345678901234567890123]", "seed 12345678901234567890123"),
        ("seeds = 3", "seeds = 3\ncolour = 1", "unknown key colour; available: format, agents"),
        ("cpus = 2", "cpu = 2", r"unknown key limits\.cpu; did you mean cpus\?"),
        ("cpus = 2", 'cpus = "2"', r"limits\.cpus = '2': expected a number"),
        ("gpus = 1", "gpus = 0x" + "f" * 8000, "a whole number"),
        ('allow = ["example.org"]', 'allow = "example.org"', r"limits\.allow = 'example.org': expected a list"),
        ('label = "other"', "limits = { cpus = 0 }", r"agents\[1\]\.limits\.cpus must be more than 0"),
        ('label = "other"', 'limits = { network = "open" }', r"unknown key agents\[1\]\.limits\.network"),
        ("seeds = 3", "deep = " + "[" * 5000, "nested too deep"),
        ("seeds = 3", "seeds = " + "1" * 5000, "it is not TOML"),
        ('["a", "b"]', '["a", "a"]', "competition a is given twice"),
        ('name = "aide"', 'name = "x"\nlabel = "other"', "no label twice"),
        ('label = "other"', 'label = "../x"', "label"),
        ('name = "aide"', "", r"agents\[0\]\.name is missing"),
        ("seeds = 3", "format = 2", "unsupported format"),
    ],
)
def test_mistakes_are_named(before, after, words, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.replace(before, after, 1))
    with pytest.raises(UsageError, match=words) as caught:
        read_plan(path)
    assert str(path) in str(caught.value)


def test_nothing_named():
    with pytest.raises(UsageError, match="no agent"):
        make_plan({"competitions": ["a"]})
    with pytest.raises(UsageError, match="no competition"):
        make_plan({"agents": [{"name": "a"}]})


def test_a_plan_that_is_no_file_is_an_error_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin").write_bytes(b'agents = "\xe9"')
    (tmp_path / "long").write_bytes(b"# long\n" * 2**22)
    for path, words in [
        (tmp_path / "pipe", "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path, "not a regular file"),
        (tmp_path / "latin", "it is not TOML"),
        (tmp_path / "long", "more than"),
        (tmp_path / "none", "there is no plan"),
    ]:
        with pytest.raises(UsageError, match=words) as caught:
            read_plan(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1h30m", 5400), ("1.5h", 5400), ("45", 45), (0.5, 0.5), ("2d", 172800)],
)
def test_durations(text, seconds):
    assert duration(text) == seconds == duration(write_duration(duration(text)))


@pytest.mark.parametrize(("given", "seconds"), [("600", 600), ("24h", 86400), ("24s", 24), (3600, 3600), (60.0, 60)])
def test_time_limits(given: object, seconds: float) -> None:
    plan = {"agents": [{"name": "aide"}], "competitions": ["a"], "limits": {"time": given}}
    assert make_plan(plan).limits.time == seconds
    for unclear in ("24", 24, "599", "9.5"):
        with pytest.raises(UsageError, match=rf"{unclear}h, {unclear}m or {unclear}s\?"):
            make_plan({**plan, "limits": {"time": unclear}})


@pytest.mark.parametrize("text", ["", "-1", "1x", "nan", True, "1e99"])
def test_no_durations(text):
    with pytest.raises(UsageError):
        duration(text)


def test_sizes():
    assert [size(text) for text in ("16GB", "512MiB", "2T", "100", 7)] == [16 * 10**9, 2**29, 2 * 10**12, 100, 7]
    for text in ("", "GB", "-1", "1 PB"):
        with pytest.raises(UsageError):
            size(text)


def test_an_unknown_argument_is_named() -> None:
    with pytest.raises(UsageError, match="unknown argument 'colour'; available: agent, options"):
        mlecore.run(agent="x", colour="red")  # type: ignore[call-arg]


def test_one_text_is_a_list_of_one() -> None:
    plan = plan_of(
        None, {"agent": "x", "competition": "a", "allow": "h.org", "secret": "S", "gateway": {"budgets": "5usd"}}
    )
    assert (plan.competitions, plan.limits.allow, plan.limits.secrets) == (("a",), ("h.org",), ("S",))
    assert plan.gateway.budgets == ("5usd",)


@pytest.mark.parametrize(
    ("given", "seeds"), [(3, (0, 1, 2)), ("2", (0, 1)), ([7, 4], (7, 4)), ("0,3,7", (0, 3, 7)), ("7,", (7,))]
)
def test_seeds_are_how_many_or_which(given: object, seeds: tuple[int, ...]) -> None:
    assert plan_of(None, {"agent": "x", "competition": "a", "seeds": given}).seeds == seeds


def test_settings_of_the_gateway_are_those_of_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []
    monkeypatch.setattr("mlecore.cli.run.perform", lambda plan, *_: planned.append(plan))
    words = (
        "--agent x --competition a -G key=MY_KEY -G any-model=true -G server-tools=false -G retries=2 -G max-calls=8"
    )
    words += " -G budgets=5usd -G budgets=2Mtok -G models=b -G prices.gpt-4.1=2.5,10 -G prices.web_search=0.01"
    done = CliRunner().invoke(command, [*words.split(), "-G", "allow=POST /v1/images/*"])
    assert done.exit_code == 0, done.exception
    assert planned[0].gateway == PlannedGateway(
        key="MY_KEY",
        models=("b",),
        any_model=True,
        allow=("POST /v1/images/*",),
        budgets=("5usd", "2Mtok"),
        prices={"gpt-4.1": {"input": 2.5, "output": 10.0}, "web_search": {"use": 0.01}},
        retries=2,
        max_calls=8,
    )


def test_several_agents_as_an_argument() -> None:
    several = ["aide", {"name": "command", "options": {"argv": "true"}}]
    plan = make_plan(as_dictionary({"agent": several, "competition": "a"}))
    assert [(agent.name, dict(agent.options)) for agent in plan.agents] == [
        ("aide", {}),
        ("command", {"argv": "true"}),
    ]
    with pytest.raises(UsageError, match="options belong to one agent"):
        as_dictionary({"agent": several, "options": {"a": "b"}})
