"""The form of disclosures compared with what the records show."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from typing import Literal

from attrs import frozen

from mle_ext_leaderboard.entry import Disclosures, Entry
from mle_ext_leaderboard.results import Results

Verdict = Literal["recorded", "claim", "contradicted"]
HARDWARE = "hardware class"


@frozen(kw_only=True)
class Line:
    """One disclosure. ``recorded``: the records say the same; ``claim``: no record can tell."""

    name: str
    claimed: str
    verdict: Verdict
    records: str  # what the records show, in words


def compare(entry: Entry, results: Results) -> list[Line]:
    """Every line of the form, and the models."""
    form = entry.disclosures
    assert form is not None
    return [*_lines(form, results), _models(entry, results)]


def _lines(form: Disclosures, results: Results) -> Iterator[Line]:
    seen = results.recorded
    replaced = f"{seen.replaced} graded results were replaced by hand (mlecore runs retry --force)"
    yield _yes_no(
        "hidden scores as a signal",
        form.hidden_scores,
        contradicted=replaced if seen.replaced else "",
        records="no graded result was replaced; what happened outside these runs is in no record",
    )
    yield _yes_no("human help", form.human_help, records="not in any record")
    open_network = "open" in seen.network
    reach = "the network was open" if open_network else "the runs had no open network; what was installed is not known"
    yield _yes_no("outside data", form.outside_data, records=reach)
    servers = f"MCP servers: {', '.join(seen.mcp)}" if seen.mcp else "no MCP server; what was installed is not known"
    yield _yes_no("knowledge base", form.knowledge_base, records=servers)
    yield _web(form, results)
    varying = f"differs between competitions: {', '.join(seen.varying)}" if seen.varying else ""
    yield _yes_no(
        "competition-specific prompts",
        form.competition_prompts,
        contradicted=varying,
        records="options and files of the agent are the same for all competitions; its source was not read",
    )
    yield _hardware(form, results)
    limits = sorted({run.limit_hours for run in results.runs})
    words = ", ".join(f"{limit:g}" for limit in limits)
    yield _same("hours", f"{form.hours:g}", words, all(isclose(limit, form.hours, rel_tol=1e-3) for limit in limits))
    recorded = ", ".join(map(str, results.seeds))
    claimed = tuple(sorted(form.seeds))
    yield _same("seeds", ", ".join(map(str, claimed)), recorded, claimed == results.seeds)


def _yes_no(name: str, claimed: bool, *, records: str, contradicted: str = "") -> Line:
    """Whoever says no is contradicted by a record; whoever says yes speaks against their own interest."""
    if contradicted:
        return Line(
            name=name,
            claimed="yes" if claimed else "no",
            verdict="recorded" if claimed else "contradicted",
            records=contradicted,
        )
    return Line(name=name, claimed="yes" if claimed else "no", verdict="claim", records=records)


def _web(form: Disclosures, results: Results) -> Line:
    seen = results.recorded
    ways = [f"hosts {', '.join(seen.hosts)}"] if seen.hosts else []
    ways += [f"MCP servers {', '.join(seen.mcp)}"] if seen.mcp else []
    ways += ["tools of the model's provider"] if seen.server_tools else []
    found = "open" if "open" in seen.network else "limited" if ways else "none"
    words = f"{found} ({'; '.join(ways)})" if ways and found == "limited" else found
    if found != "open" and not seen.network_enforced:
        words += ", which the backend did not enforce on every run"
        verdict: Verdict = "claim" if form.web == found else "contradicted"
        return Line(name="web", claimed=form.web, verdict=verdict, records=words)
    return _same("web", form.web, words, form.web == found)


def _hardware(form: Disclosures, results: Results) -> Line:
    found = results.conditions.get(HARDWARE, ())
    if not found or "unknown" in found:
        return Line(name="hardware", claimed=form.hardware, verdict="claim", records="nobody measured it")
    return _same("hardware", form.hardware, " / ".join(found), tuple(found) == (form.hardware,))


def _models(entry: Entry, results: Results) -> Line:
    claimed = ", ".join(sorted(entry.models)) or "none"
    if not results.models:
        return Line(name="models", claimed=claimed, verdict="claim", records="the runs were given no model")
    return _same("models", claimed, ", ".join(results.models), set(entry.models) == set(results.models))


def _same(name: str, claimed: str, records: str, same: bool) -> Line:
    return Line(name=name, claimed=claimed, verdict="recorded" if same else "contradicted", records=records)
