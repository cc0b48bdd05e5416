"""What a gateway lacks is said before anything starts."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from mlecore.controller.preflight import preflight
from mlecore.errors import UsageError
from mlecore.model.agents import Launch
from mlecore.model.plan import Execution, PlannedGateway


@pytest.fixture
def check(lab, tmp_path, monkeypatch):
    """Preflight of an agent that works with a model, with what its gateway and its runs are given."""
    lab.make(("worker", {}))
    experiment = lab.experiment()
    worker = experiment.agents["worker"]
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")

    def run(secrets: tuple[str, ...] = (), given: tuple[str, ...] = (), model: str | None = "gpt-4o", **gateway: Any):
        class Loaded:
            def call(self, hook, **arguments):
                return Launch(argv=("true",), secrets=secrets, network="llm")

        planned = evolve(worker.planned, model=model, endpoint="https://api.openai.com/v1")
        limits = evolve(experiment.plan.limits, network="llm", secrets=given)
        execution = Execution(model_check=False)
        plan = evolve(experiment.plan, limits=limits, gateway=PlannedGateway(**gateway), execution=execution)
        agents = {"worker": evolve(worker, planned=planned, plugin=Loaded())}
        preflight(evolve(experiment, plan=plan, agents=agents), "uid")

    return run


def test_the_key_is_missing(check, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UsageError, match=r"needs the key of https://api\.openai\.com/v1 in OPENAI_API_KEY"):
        check()
    with pytest.raises(UsageError, match="in MY_KEY, which is not set"):
        check(key="MY_KEY")


def test_no_model_is_named(check):
    with pytest.raises(UsageError, match="no model is given"):
        check(model=None)
    check(model=None, any_model=True)


def test_a_price_is_missing(check):
    with pytest.raises(UsageError, match="no price is known for my-own"):
        check(model="my-own", budgets=("5usd",))
    check(model="my-own", budgets=("5usd",), prices={"my-own": {"input": 1, "output": 2}})
    check(model="my-own", budgets=("2Mtok",))


def test_an_agent_gets_a_key_by_name_only(check, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf-real")
    with pytest.raises(UsageError, match="--secret HF_TOKEN"):
        check(secrets=("HF_TOKEN",))
    check(secrets=("HF_TOKEN",), given=("HF_TOKEN",))
