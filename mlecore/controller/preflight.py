"""What is asked before anything starts: what each agent would start, and whether the backend can."""

from __future__ import annotations

import os
from pathlib import Path

from mlecore.agents import FinishedSubmission
from mlecore.controller.experiment import Experiment, Say
from mlecore.controller.job import make_job
from mlecore.errors import BackendError, UsageError


def preflight(experiment: Experiment, cache: Path, say: Say = lambda text: None) -> frozenset[str]:
    """Ask each agent what it would start and the backend whether it can. Raises UsageError and BackendError.

    Nothing is started, and a backend that nobody needs is not asked. Returns the labels of agents that start nothing,
    as they hand in finished files.
    """
    plan, demands, finished = experiment.plan, [], set()
    for label, loaded_agent in experiment.agents.items():
        inputs = experiment.inputs[plan.competitions[0]]
        made = make_job(experiment, loaded_agent, inputs, plan.seeds[0], "mle-preflight-1", "preflight", cache)
        if isinstance(made, FinishedSubmission):
            finished.add(label)
            continue
        demand = made.job.demand
        for name in demand.secrets:
            if name not in loaded_agent.agent.secrets:
                raise UsageError(
                    f"agent {loaded_agent.use.name} asks for {name}, which it does not declare as a secret"
                )
            if not os.environ.get(name):
                raise UsageError(
                    f"agent {loaded_agent.use.name} needs {name} in the environment", fix=f"export {name}=..."
                )
        demands.append(demand)
        if demand.network == "llm" and not demand.allow:
            say(f"warning: the relay lets {label} through to nothing; name --endpoint URL, or hosts with --allow")
    if not demands:
        return frozenset(finished)
    problems = experiment.backend.preflight(demands)
    for problem in problems:
        if not problem.fatal:
            say(f"warning: {problem.what} ({problem.fix})")
    if fatal := [problem for problem in problems if problem.fatal]:
        raise BackendError(
            f"backend {plan.backend.name}: " + "; ".join(problem.what for problem in fatal),
            fix="\n".join(problem.fix for problem in fatal),
        )
    return frozenset(finished)
