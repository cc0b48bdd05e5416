"""Plans: what flags describe and files hold, and each mistake told by name."""

from __future__ import annotations

import pytest
from attrs import evolve

from mlecore.errors import UsageError
from mlecore.runs.plan import Plan, make_agents, parse_plan, read_plan, validated, write_plan
from mlecore.runs.record import Limits
from mlecore.units import duration, show_duration, show_size, size

PLAN = """
competitions = ["a", "b"]
seeds = 3

[[agents]]
name = "baseline"
[agents.options]
depth = 3
fast = true

[[agents]]
name = "baseline"
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

[run]
max_parallel = 4
"""


def test_a_whole_experiment():
    plan = parse_plan(PLAN)
    assert len(plan) == 12 and plan.seeds == (0, 1, 2)
    first, second = plan.agents
    assert (first.label, second.label) == ("baseline", "other")
    assert first.options == {"depth": "3", "fast": "true"}
    assert (first.model, second.model, second.endpoint) == ("m1", "m2", "http://localhost:8000/v1")
    assert plan.limits == Limits(time=5400, memory=16 * 10**9, cpus=2, gpus=1, network="llm", allow=("example.org",))
    assert plan.backend_options == {"gpus": "0,1"} and plan.synthetic and plan.max_parallel == 4
    assert [run.name for run in plan.runs()][:2] == ["baseline--a--0", "baseline--a--1"]


def test_written_and_read_again():
    odd = {"argv": 'python "x y.py" \\ ü\n\t\x7f', "a b": "1"}
    plan = Plan(
        agents=make_agents([("command", None, odd, None, None), ("command", None, {}, "m", "http://e")]),
        competitions=("a",),
        seeds=(7, -1),
        limits=Limits(time=0.1 + 0.2, disk=5, cpus=0.5),
        backend_options={"x": ""},
        max_parallel=3,
        retries=0,
    )
    again = parse_plan(write_plan(plan))
    assert again == plan and (again.max_parallel, again.retries) == (3, 0)
    assert [agent.label for agent in again.agents] == ["command", "command-2"]


def test_how_it_is_run_is_no_part_of_what_it_is():
    plan = parse_plan(PLAN)
    assert plan == evolve(plan, max_parallel=1, retries=9)
    assert plan != evolve(plan, seeds=(0,))


def test_uids_are_random_with_the_group_and_the_same_again():
    run = next(parse_plan(PLAN).runs())
    assert run.uid("one") == run.uid("one") != run.uid("two")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('competitions = ["a", "b"]', "competition"),
        ("seeds = 3", "seeds"),
    ],
)
def test_missing_parts(change, words):
    text = PLAN.replace(change, "" if "competitions" in change else "seeds = []")
    with pytest.raises(UsageError, match=words.rstrip("s")):
        parse_plan(text)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("seeds = 3", "seeds = 0", "at least 1"),
        ("seeds = 3", "seeds = [1, 1]", "seed 1 is named twice"),
        ("seeds = 3", 'seeds = "3"', "should be"),
        ("seeds = 3", "seeds = 3\ncolour = 1", "unknown key 'colour'"),
        ("cpus = 2", "cores = 2", r"\[limits\]: unknown key 'cores'"),
        ("cpus = 2", "cpus = -1", "more than 0"),
        ('"1h30m"', '"soon"', "no duration"),
        ('"16GB"', '"big"', "no size"),
        ('["a", "b"]', '["a", "a"]', "competition a is named twice"),
        ('label = "other"', 'label = "baseline"', "no label twice"),
        ('label = "other"', 'label = "a--b"', "label"),
        ('label = "other"', 'label = "../x"', "label"),
        ("depth = 3", "depth = []", "depth must be"),
        ('name = "baseline"', "", "name is missing"),
        ("gpus = 1", 'gpus = 1\nnetwork = "some"', "none, llm or open"),
        ("seeds = 3", "format = 2", "another format"),
        ("seeds = 3", "seeds = ", "Invalid value"),
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
        validated(Plan(agents=(), competitions=("a",)))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("24h", 86400), ("90m", 5400), ("1h30m", 5400), ("1.5h", 5400), ("45", 45), (0.5, 0.5), ("2d", 172800)],
)
def test_durations(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "-1", "0", "1x", "1h 30", "nan", "inf", True, "1e99"])
def test_no_durations(text):
    with pytest.raises(UsageError):
        duration(text)


def test_sizes():
    assert [size(text) for text in ("16GB", "512MiB", "2T", "100", 7)] == [16 * 10**9, 2**29, 2 * 10**12, 100, 7]
    for text in ("", "GB", "-1", "1 PB"):
        with pytest.raises(UsageError):
            size(text)


def test_shown():
    assert [show_duration(s) for s in (0.4, 45, 90, 3600, 4000, 90000)] == [
        "0.4s",
        "45s",
        "1m 30s",
        "1h",
        "1h 6m",
        "1d 1h",
    ]
    assert [show_size(n) for n in (5, 1500, 2.5e9, 10**15)] == ["5 B", "1.5 kB", "2.5 GB", "1000.0 TB"]
