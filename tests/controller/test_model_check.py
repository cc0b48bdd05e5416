"""Before anything starts, each model is called once: by the real protocols, with the key of the runs' gateways."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import pytest
from attrs import evolve

from mlecore.controller.model_check import check_models
from mlecore.controller.preflight import preflight
from mlecore.errors import EndpointError, MlecoreError, UsageError
from mlecore.model.agents import Launch
from mlecore.model.backends import Backend
from mlecore.model.model_access import ModelAccess
from mlecore.model.plan import Execution
from mlecore_testing.models import Answer, Model, Script, scripted_model

KEY = "sk-real-0123456789abcdef"


class Here(Backend):
    """A backend whose gateways are on this machine."""

    here = True

    def __init__(self) -> None: ...

    def reaches_as_here(self, endpoint: str) -> bool:
        return self.here


Here.__abstractmethods__ = frozenset()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def check(monkeypatch, said):
    monkeypatch.setenv("MY_KEY", KEY)

    def run(endpoint: str, *models: str, here: bool = True, key: str | None = "MY_KEY") -> None:
        backend = Here()
        backend.here = here
        access = ModelAccess(endpoint=endpoint, key=key, models=models or ("scripted",))
        check_models([access, access], backend, said.append)

    return run


@contextlib.contextmanager
def model(*answers: Answer, key: str | None = KEY) -> Iterator[Model]:
    with scripted_model(Script(answers=answers or (Answer(text="OK"),), key=key)) as running:
        yield running


@pytest.fixture
def nowhere() -> Iterator[str]:
    """A URL at which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


def test_one_call_for_each_model(check, said):
    with model() as running:
        check(running.url, "scripted", "another")
        assert running.served.probes == 2 and running.served.calls == 0
    assert said == [f"scripted answers at {running.url}", f"another answers at {running.url}"]


def test_in_a_notebook(check):
    async def cell() -> None:
        with model() as running:
            check(running.url)

    asyncio.run(cell())


@pytest.mark.parametrize(
    ("answer", "error", "words", "fix"),
    [
        (Answer(status=401, text="Expired."), UsageError, "rejects the key (status 401: Expired.)", "into MY_KEY"),
        (Answer(status=404, text="The model `x` does not exist."), UsageError, "does not have the model", "--model"),
        (Answer(status=429, text="insufficient_quota"), EndpointError, "quota is used up", "Add credit"),
        (Answer(status=503, text="Overloaded."), EndpointError, "fails (status 503: Overloaded.)", "Try again"),
    ],
)
def test_what_is_wrong_is_named_with_its_fix(check, answer, error, words, fix, monkeypatch):
    monkeypatch.setattr("mlecore.controller.model_check._AGAIN", 0.01)
    with model(answer) as running, pytest.raises(MlecoreError) as caught:
        check(running.url)
    assert type(caught.value) is error and caught.value.exit_code == (2 if error is UsageError else 3)
    assert f"scripted at {running.url}: " in caught.value.message and words in caught.value.message
    assert fix in caught.value.fix and "model_check = false" in caught.value.fix
    assert KEY not in str(caught.value)


def test_a_url_that_is_no_api(check):
    with model() as running, pytest.raises(UsageError, match="no API for models at this URL"):
        check(f"{running.root}/nothing/here")


def test_an_endpoint_that_only_the_cluster_may_reach(check, nowhere, said):
    with pytest.raises(EndpointError, match="cannot be reached"):
        check(nowhere)
    check(nowhere, here=False)
    assert (
        said[0].startswith(f"warning: scripted at {nowhere}: the endpoint cannot be reached")
        and "start anyway" in said[0]
    )


@pytest.mark.parametrize("answer", [Answer(status=429, text="Rate limit reached.", retry_after=1), Answer(delay=9)])
def test_a_busy_or_slow_model_is_a_warning(check, said, answer, monkeypatch):
    monkeypatch.setattr("mlecore.controller.model_check.SECONDS", 0.5)
    with model(answer) as running:
        check(running.url)
    assert said[0].startswith("warning: ") and "start anyway" in said[0]


def test_the_preflight_of_a_plan(lab, tmp_path, monkeypatch):
    """It asks for agents of which runs begin, unless the plan says otherwise."""
    monkeypatch.setenv("MY_KEY", KEY)
    lab.make(("worker", {}))
    experiment = lab.experiment()
    worker = experiment.agents["worker"]

    class Loaded:
        def call(self, hook, **arguments):
            return Launch(argv=("true",), network="llm", models=("helper",))

    with model(Answer(status=401, text="Expired.")) as running:
        planned = evolve(worker.planned, model="scripted", endpoint=running.url)
        limits = evolve(experiment.plan.limits, network="llm")
        plan = evolve(experiment.plan, limits=limits, gateway=evolve(experiment.plan.gateway, key="MY_KEY"))
        experiment = evolve(experiment, plan=plan, agents={"worker": evolve(worker, planned=planned, plugin=Loaded())})
        with pytest.raises(UsageError, match=r"(?s)scripted at .*; helper at .*model_check = false"):
            preflight(experiment, "uid")
        assert running.served.probes == 2
        preflight(experiment, "uid", begin=())
        preflight(evolve(experiment, plan=evolve(plan, execution=Execution(model_check=False))), "uid")
        assert running.served.probes == 2
