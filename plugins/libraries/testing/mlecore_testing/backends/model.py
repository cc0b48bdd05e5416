"""Rule: a job reaches its model through a gateway, which keeps the key and counts the calls."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

from mlecore.model.model_access import ModelAccess
from mlecore.runs.measured import measure
from mlecore_jobs.fetching import GATEWAY_LOG
from mlecore_testing.backends.harness import BackendBench
from mlecore_testing.models import Answer, Script, scripted_model
from mlecore_testing.models.client import ASK
from mlecore_testing.rules import Broken, Undecided

_VARIABLE = "MLECORE_TESTING_KEY"
_CALLS = """
for model in ("scripted", "other", "scripted"):
    print(ask(model), flush=True)
print([name for name, value in os.environ.items() if value.startswith("real-")])
"""


def gateway(bench: BackendBench) -> Iterator[Broken]:
    """One call is answered, one asks for another model, one exceeds the budget."""
    if bench.sandbox.network.level == "absent":
        raise Undecided("the backend says that it does not restrict the network, so there is no gateway")
    os.environ[_VARIABLE] = key = f"real-{uuid.uuid4().hex}"
    try:
        with scripted_model(Script(key=key, answers=(Answer(text="fine", times=0),))) as model:
            access = ModelAccess(endpoint=model.url, key=_VARIABLE, models=("scripted",), budgets=("1calls",))
            script = f'mkdir -p logs; echo forged >{GATEWAY_LOG}; exec python3 -c "$ASK"'
            job = bench.job(script, env={"ASK": ASK + _CALLS}, network="llm", model=access)
            bench.require(job.resources)
            handle, _ = bench.run(job)
            output = bench.output(handle).decode("utf-8", "replace")
    finally:
        del os.environ[_VARIABLE]
    if output.startswith("502"):
        raise Undecided("this machine's loopback, where the scripted model is, cannot be reached from the backend")
    if output != "fine\n403\n429\n[]\n":
        yield Broken(f"calls through the gateway did not end with fine, 403, 429: {output!r}", "resources.model")
    into, _ = bench.fetch(handle, "logs/*")
    counted = measure(into / GATEWAY_LOG)
    if counted is None or (counted.calls, counted.refused) != (1, 2):
        yield Broken(f"{GATEWAY_LOG} is not the gateway's log", "fetch()")
