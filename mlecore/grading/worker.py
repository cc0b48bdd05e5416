"""The process behind IsolatedGrader: it imports pandas and the plugin once, and works on each request in a fork."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from mlecore.data.prepared import Prepared
from mlecore.errors import GradingError
from mlecore.model.provenance import PluginUse, plugin_use
from mlecore.plugins.competitions import competition
from mlecore.util.schema import structure
from mlecore.workers.pool import Say, importing, serve

_competition = cache(competition)  # looked up once, for all forks


def _import(request: dict[str, Any]) -> None:
    """Import what grades, once for all forks. What counts is the code that runs, not what was listed: another plugin
    must not grade."""
    from mlecore.grading import report  # noqa: F401

    target = _competition(request["competition"], request["edition"])
    _ = target.loaded, target.facts
    if request["began_with"] is None:
        return
    began, here = PluginUse(**request["began_with"]), plugin_use(target.plugin)
    if not here.is_same_as(began):
        raise GradingError(
            f"another plugin of {target.id} is installed than its group began with: {here}, then {began}",
            fix="Install that one again, or let this one grade: mlecore runs grade GROUP --with-installed",
        )


def _work(request: dict[str, Any], say: Say) -> Any:
    from mlecore.grading.report import grade

    target = _competition(request["competition"], request["edition"])
    submission = None if request["submission"] is None else Path(request["submission"])
    if "data" in request:
        return grade(target, submission, structure(Prepared, request["data"]), request["sample"]).to_json()
    assert submission
    return target.check(submission, Path(request["public"]))


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads do not survive a fork
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with importing():
        import pandas  # noqa: F401  (imported here so that forks have it)

    serve(_work, before_fork=_import)
