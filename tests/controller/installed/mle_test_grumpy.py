"""Extension `grumpy`: fails at every event."""

from mlecore.hookspecs import hookimpl


@hookimpl
def run_started(run: object) -> None:
    raise RuntimeError("not in the mood")


@hookimpl
def run_graded(run: object) -> None:
    raise RuntimeError("not in the mood")
