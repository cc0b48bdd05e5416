"""The variables that start scripts in images for MLE-bench expect; docs/mle-bench.md lists them."""

from __future__ import annotations

from mlecore.model.agents import Task

# An image may set these two itself: where its agent is, and how many steps the agent may take.
DEFAULTS = (
    "/bin/sh",
    "-c",
    ': "${AGENT_DIR:=/home/agent}" "${STEP_LIMIT:=500}"; export AGENT_DIR STEP_LIMIT; exec "$@"',
    "start",
)


def variables(task: Task) -> dict[str, str]:
    """Environment variables of the run. Shell arithmetic needs whole seconds."""
    seconds = int(task.time_limit)
    folders = ("submission", "logs", "code")
    return {
        "TIME_LIMIT_SECS": str(seconds),
        "TIME_LIMIT": f"{seconds // 3600}hrs {seconds % 3600 // 60}mins {seconds % 60}secs",
        "HARDWARE": task.hardware,
        **{f"{name.upper()}_DIR": str(task.home / name) for name in folders},
    }
