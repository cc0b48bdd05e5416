"""Checks before anything starts: what each agent would start, whether the backend can run it, and its model answers."""

from __future__ import annotations

import os
from collections.abc import Sequence

from mlecore.controller.experiment import Experiment, Say
from mlecore.controller.job import make_job
from mlecore.controller.model_check import check_models
from mlecore.errors import BackendError, UsageError
from mlecore.model.agents import FinishedSubmission
from mlecore.model.backends import Resources
from mlecore.model.model_access import ModelAccess
from mlecore.model.plan import PlannedRun
from mlecore_gateway.budgets import Budget


def preflight(
    experiment: Experiment,
    group_uid: str,
    say: Say = lambda text: None,
    begin: Sequence[PlannedRun] | None = None,
) -> frozenset[str]:
    """Ask each agent what it would start, the backend whether it can, and the models whether they answer.

    Nothing is started, and a backend that is not needed is not asked. ``begin``: the runs that still begin, so that the
    models of their agents are needed; None: all. Each agent is asked about the first of its runs, and the experiment
    keeps its answer for that run. Returns the labels of agents that start nothing, as they hand in finished files.
    Raises UsageError, BackendError and EndpointError.
    """
    plan, finished = experiment.plan, set()
    begin = list(plan.runs()) if begin is None else begin
    first: dict[str, PlannedRun] = {}
    for run in (*begin, *plan.runs()):
        if run.competition in experiment.inputs and run.label in experiment.agents:
            first.setdefault(run.label, run)
    begins = {run.label for run in begin}
    requested: list[Resources] = []
    models: list[ModelAccess] = []
    for label, run in first.items():
        loaded_agent, job_name = experiment.agents[label], f"mle-{run.uid(group_uid)}-1"
        inputs = experiment.inputs[run.competition]
        draft = experiment.drafts[job_name] = make_job(experiment, loaded_agent, inputs, run.seed, job_name, group_uid)
        if isinstance(draft, FinishedSubmission):
            finished.add(label)
            continue
        for note in draft.launch.notes:
            say(f"{label}: {note}")
        resources = draft.job.resources
        if resources.model is not None:
            _check_access(resources.model)
            if label in begins:
                models.append(resources.model)
        for name in resources.secrets:
            named = name in plan.limits.secrets
            if resources.model is not None and not named:
                raise UsageError(
                    f"agent {loaded_agent.use.name} asks for {name}, but runs with a gateway get only named keys",
                    fix=f"To pass it to them anyway: --secret {name}",
                )
            if not named and name not in loaded_agent.agent.secrets:
                raise UsageError(
                    f"agent {loaded_agent.use.name} asks for {name}, which it does not declare as a secret"
                )
            if not os.environ.get(name):
                raise UsageError(
                    f"agent {loaded_agent.use.name} needs {name} in the environment", fix=f"export {name}=..."
                )
        requested.append(resources)
    if not requested:
        return frozenset(finished)
    problems = experiment.backend.preflight(requested)
    for problem in problems:
        if not problem.fatal:
            say(f"warning: {problem.description} ({problem.fix})")
    if fatal := [problem for problem in problems if problem.fatal]:
        kind = UsageError if all(problem.usage for problem in fatal) else BackendError
        raise kind(
            f"backend {plan.backend.name}: " + "; ".join(problem.description for problem in fatal),
            fix="\n".join(dict.fromkeys(problem.fix for problem in fatal)),
        )
    if plan.execution.model_check:
        check_models(models, experiment.backend, say)
    return frozenset(finished)


def _check_access(access: ModelAccess) -> None:
    """Has the gateway what it needs? Raises UsageError."""
    from mlecore_gateway.calls import Tokens
    from mlecore_gateway.prices import Prices
    from mlecore_gateway.settings import Price

    if access.key is not None and not os.environ.get(access.key):
        raise UsageError(
            f"the gateway needs the key of {access.endpoint} in {access.key}, which is not set",
            fix=f"export {access.key}=... (or -G key=NAME, where it is in another variable)",
        )
    if not access.models and not access.any_model:
        raise UsageError(
            f"no model is given that may be called at {access.endpoint}",
            fix="Name it (--model), or give -G any-model=true.",
        )
    if any(Budget.parse(text).unit == "usd" for text in access.budgets):
        prices = Prices(
            access.endpoint, {name: Price(**price) for name, price in access.prices.items() if "use" not in price}
        )
        for model in access.models:
            if prices.cost((model,), Tokens()) is None:
                raise UsageError(
                    f"no price is known for {model}, so a budget in dollars cannot be kept",
                    fix=f'Name it in the plan: [gateway.prices."{model}"], in dollars for a million tokens.',
                )
