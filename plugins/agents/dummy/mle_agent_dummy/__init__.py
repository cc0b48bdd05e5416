"""Agent `dummy`: explores its sandbox as an adversary would, and submits the sample submission."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, Launch, Network, Task
from mlecore.model.options import Option

NETWORKS: Mapping[str, Network] = {"none": "none", "llm": "llm", "open": "open"}
WORK = Path(__file__).parent / "work"


@hookimpl
def agent() -> Agent:
    return Agent(
        summary="explores its sandbox as an adversary would, and submits the sample submission",
        options=(Option(name="network", help="network to request and probe", default="none", choices=tuple(NETWORKS)),),
    )


@hookimpl
def launch(task: Task) -> Launch:
    network = NETWORKS[task.options["network"]]
    return Launch(
        argv=("/bin/sh", "agent/probe.sh"),
        env={"MLECORE_PROBE_NETWORK": network},
        files={f"agent/{path.name}": path for path in sorted(WORK.iterdir()) if path.suffix in (".py", ".sh")},
        network=network,
    )
