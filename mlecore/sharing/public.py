"""Records, plans and findings without the parts of URLs that may be secret: name and password, query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from attrs import evolve

from mlecore.runs.findings import Findings
from mlecore.runs.plan import Plan
from mlecore.runs.record import RunRecord


def public_record(record: RunRecord) -> RunRecord:
    """The record with its endpoint made public."""
    return evolve(record, endpoint=_public_url(record.endpoint))


def public_plan(plan: Plan) -> Plan:
    """The plan with its agents' endpoints and its detectors' options made public."""
    agents = tuple(evolve(agent, endpoint=_public_url(agent.endpoint)) for agent in plan.agents)
    detectors = _public_values(plan.execution.detectors)
    return evolve(plan, agents=agents, execution=evolve(plan.execution, detectors=detectors))


def public_findings(found: Findings) -> Findings:
    """The findings with the detector's options and settings made public."""
    detector = evolve(found.detector, options=_public_values(found.detector.options))
    return evolve(found, detector=detector, settings=_public_values(found.settings))


def _public_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Options and settings, with every URL in them made public, as deep as tables go."""
    return {name: _public_part(value) for name, value in values.items()}


def _public_part(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _public_values(value)
    return _public_url(value) if isinstance(value, str) and "://" in value else value


def _public_url(url: str | None) -> str | None:
    if url is None:
        return None
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
