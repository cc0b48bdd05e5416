"""Which program makes the sandboxes of this node: bubblewrap, or Apptainer where that does not work."""

from __future__ import annotations

from mlecore.errors import BackendError
from mlecore.model.backends import Sandbox
from mlecore_sandboxes import apptainer, bubblewrap, environments
from mlecore_sandboxes.machine import Machine
from mlecore_sandboxes.view import Isolation


def chosen(wanted: str, ref: str = "") -> Isolation:
    """``wanted`` is the option ``isolation``; ``ref`` what a job runs in. Raises BackendError if there is none."""
    if wanted == "none":
        return "none"
    problem = None
    if wanted == "sandbox" and environments.image(ref) is None:
        problem = bubblewrap.problem()
        if problem is None:
            return "bubblewrap"
    other = apptainer.problem()
    if other is None:
        return "apptainer"
    if problem is None:
        raise BackendError(f"no sandboxes here: {other.description}", fix=other.fix)
    raise BackendError(f"no sandboxes here: {problem.description}; {other.description}", fix=problem.fix)


def described(isolation: Isolation) -> Sandbox:
    """The levels of this node."""
    if isolation == "apptainer":
        return apptainer.described(Machine({"isolation": "none"}).describe())
    return Machine({"isolation": isolation}).describe()
