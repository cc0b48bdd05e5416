"""What an agent gets, what a backend gets, and what is rejected before anything starts."""

from __future__ import annotations

import copy
import shutil
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from attrs import evolve

from mlecore.controller.job import make_job, make_task, sample_file, tools
from mlecore.controller.preflight import preflight
from mlecore.errors import PluginError, UsageError
from mlecore.model.agents import Agent, Launch, Needs
from mlecore.model.plan import PlannedGateway


@pytest.fixture
def ready(lab):
    lab.make(("worker", {}), limits={"time": "90s", "cpus": 2, "memory": "1GB"})
    experiment = lab.experiment()
    return experiment, experiment.agents["worker"], experiment.inputs["coins"]


def answer(experiment, loaded_agent, launch) -> object:
    """The agent, but with this answer to launch()."""

    class Loaded:
        def call(self, hook, **arguments):
            return launch(arguments["task"]) if callable(launch) else launch

    return evolve(loaded_agent, plugin=Loaded())


def test_a_task_tells_what_may_be_known_and_a_job_what_is_to_be_done(ready, tmp_path):
    experiment, loaded_agent, inputs = ready
    task = make_task(experiment, loaded_agent, inputs, 3, "mle-u-1")
    assert (task.competition, task.metric, task.direction, task.seed) == ("coins", "accuracy", "maximize", 3)
    assert task.time_limit == 90.0 and "2 CPUs" in task.hardware and "Ten coins" in task.description
    assert task.rules in task.instructions and task.options["code"] == "0"
    made = make_job(experiment, loaded_agent, inputs, 3, "mle-u-1", "gu")
    job = made.job
    assert (job.name, job.group) == ("mle-u-1", "gu")
    assert (job.resources.cpus, job.resources.memory, job.resources.time_limit) == (2, 10**9, 90.0)
    files = tools(inputs, tmp_path)
    assert set(files) == {"init", "validate", "sample.csv", "submission.json"} and files["validate"].is_file()
    assert job.files["instructions.txt"] == task.instructions.encode()
    assert job.files["validate_submission.sh"].is_file()
    assert job.env["MLECORE_CANDIDATES"] == "submission/submission.csv" and int(job.env["MLECORE_SNAPSHOT_BYTES"]) > 0
    assert "*.py" in job.env["MLECORE_SNAPSHOT_CODE"].splitlines()
    assert "private" not in repr(job)


@pytest.fixture
def packed(ready, tmp_path):
    """Inputs whose sample is inside an archive."""
    _, _, inputs = ready
    data = evolve(inputs.data, root=tmp_path)
    data.public.mkdir()
    with zipfile.ZipFile(data.public / "s.zip", "w") as archive:
        archive.writestr("a/s.csv", "id,side\n")
    packed = copy.copy(inputs.competition)
    packed.facts = evolve(inputs.facts, sample="public/s.zip!a/s.csv")
    return evolve(inputs, competition=packed, data=data)


def test_runs_that_start_at_once_unpack_the_sample_side_by_side(packed, tmp_path, monkeypatch):
    both, copy = threading.Barrier(2), shutil.copyfile

    def copy_together(*paths):
        copy(*paths)
        both.wait(timeout=120)

    monkeypatch.setattr(shutil, "copyfile", copy_together)
    with ThreadPoolExecutor() as pool:
        found = [pool.submit(sample_file, packed, tmp_path / "cache") for _ in range(2)]
        assert {path.result().read_text() for path in found} == {"id,side\n"}
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (None, "neither a Launch nor a FinishedSubmission"),
        (Launch(argv=()), "empty argv"),
        (Launch(argv=("x",), files={"../x": b""}), "not a path below its home"),
        (Launch(argv=("x",), files={"/etc/x": b""}), "not a path below its home"),
        (Launch(argv=("x",), candidates=("a\nb",)), "not a path below the sandbox's home"),
        (Launch(argv=("x",), candidates=("../*.csv",)), "not a path below the sandbox's home"),
        (Launch(argv=("x",), candidates=()), "no candidate for"),
    ],
)
def test_an_odd_launch_is_the_agents_fault(ready, tmp_path, launch, words):
    experiment, loaded_agent, inputs = ready
    with pytest.raises(PluginError, match=words) as caught:
        make_job(experiment, answer(experiment, loaded_agent, launch), inputs, 0, "j", "g")
    assert "agent worker" in str(caught.value)


def test_more_network_than_given_is_refused(ready, tmp_path):
    experiment, loaded_agent, inputs = ready
    wants = answer(experiment, loaded_agent, Launch(argv=("x",), network="open"))
    with pytest.raises(UsageError, match="--network"):
        make_job(experiment, wants, inputs, 0, "j", "g")
    plan = evolve(experiment.plan, limits=evolve(experiment.plan.limits, network="open"))
    assert make_job(evolve(experiment, plan=plan), wants, inputs, 0, "j", "g").job.resources.network == "open"


def test_secrets_must_be_declared_and_there(ready, tmp_path, monkeypatch):
    experiment, loaded_agent, _ = ready
    asks = answer(experiment, loaded_agent, Launch(argv=("x",), secrets=("SOME_KEY",)))
    with pytest.raises(UsageError, match="does not declare"):
        preflight(evolve(experiment, agents={"worker": asks}), "uid")
    declared = evolve(asks, agent=Agent(summary="", secrets=("SOME_KEY",)))
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(UsageError, match="export SOME_KEY"):
        preflight(evolve(experiment, agents={"worker": declared}), "uid")
    monkeypatch.setenv("SOME_KEY", "x")
    assert preflight(evolve(experiment, agents={"worker": declared}), "uid") == frozenset()


@pytest.mark.parametrize(
    ("needs", "words"),
    [(Needs(gpus=1), "--gpus 1"), (Needs(model=True), "--model"), (Needs(network="llm"), "--model and")],
)
def test_needs_are_checked_before_anything_starts(lab, monkeypatch, needs, words):
    import mle_test_worker

    declared = mle_test_worker.agent()
    lab.make(("worker", {}))
    from mlecore.plugins.loading import load

    hook = load("agent", "worker").manager.hook.agent.get_hookimpls()[0]
    monkeypatch.setattr(hook, "function", lambda: evolve(declared, needs=needs))
    with pytest.raises(UsageError, match=words):
        lab.experiment()


def test_an_endpoint_is_reached_through_a_gateway(ready, tmp_path, monkeypatch):
    experiment, loaded_agent, inputs = ready
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    planned = evolve(loaded_agent.planned, model="m", endpoint="https://api.openai.com/v1")
    plan = experiment.plan
    limits = evolve(plan.limits, network="llm", allow=("h",), secrets=("HF_TOKEN",))
    gateway = PlannedGateway(models=("small",), budgets=("5usd",), prices={"m": {"input": 1, "output": 2}})
    experiment = evolve(experiment, plan=evolve(plan, limits=limits, gateway=gateway))
    seen = []

    def launch(task):
        seen.append(task.endpoint)
        return Launch(argv=("true",), secrets=("OPENAI_API_KEY", "OTHER"), network="llm")

    agent = evolve(answer(experiment, loaded_agent, launch), planned=planned)
    resources = make_job(experiment, agent, inputs, 0, "mle-u-1", "gu").job.resources
    assert resources.allow == ("h",), "the model is reached through the gateway alone"
    assert resources.secrets == ("HF_TOKEN", "OTHER"), "in place of a key it gets a token"
    assert seen == [f"{experiment.backend.gateway_url('mle-u-1')}/v1"]
    assert (resources.model.models, resources.model.key) == (("m", "small"), "OPENAI_API_KEY")
    assert (resources.model.budgets, resources.model.prices["m"]["output"]) == (("5usd",), 2)


def test_an_agent_without_a_model_has_no_relay_beside_one_that_has(ready, tmp_path):
    experiment, loaded_agent, inputs = ready
    plan = evolve(experiment.plan, limits=evolve(experiment.plan.limits, network="llm"))
    experiment = evolve(experiment, plan=plan)
    job = make_job(experiment, loaded_agent, inputs, 0, "j", "g").job
    assert job.resources.network == "none" and b"Nothing outside" in job.files["instructions.txt"]
    wants = answer(experiment, loaded_agent, Launch(argv=("x",), network="llm"))
    with pytest.raises(UsageError, match="its runs have none"):
        make_job(experiment, wants, inputs, 0, "j", "g")
