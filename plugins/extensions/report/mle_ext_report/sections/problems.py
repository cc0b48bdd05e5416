"""What went wrong: failures, what detectors found, and what casts doubt on the figures."""

from __future__ import annotations

from collections.abc import Sequence

from mle_ext_report.cells import FLAGGED, NONE, Section, quantity, rate, rate_name, said_once, section
from mle_ext_report.document import SetupSummary
from mlecore.model.agents import OUTCOMES as HOW_AGENTS_END
from mlecore.model.findings import OUTCOMES, place

_SHOWN = 3  # places of a finding


def failures(setups: Sequence[SetupSummary]) -> Section:
    """A row per kind and cause, the most frequent first."""
    found: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for setup in setups:
        for failure in setup.failures:
            found.setdefault((failure.kind, failure.cause), {})[setup.key] = failure.runs
    counts = {kind: sum(map(len, by_setup.values())) for kind, by_setup in found.items()}
    rows = [
        (
            *kind,
            str(counts[kind]),
            ", ".join(f"{key} {len(runs)}" for key, runs in by_setup.items()) if len(setups) > 1 else NONE,
            next(iter(by_setup.values()))[0],
        )
        for kind, by_setup in sorted(found.items(), key=lambda pair: (-counts[pair[0]], pair[0]))
    ]
    header = ("RESULT", "CAUSE", "RUNS", "BY SETUP", "FOR EXAMPLE")
    return section("failures", "Runs without a valid submission", header, rows)


def endings(setups: Sequence[SetupSummary]) -> Section:
    """How the agents' processes ended, and how the agents say they did, where that is worth a look."""
    shown = [
        setup
        for setup in setups
        if setup.process_ends.keys() > {"finished"} or setup.outcomes.keys() - {HOW_AGENTS_END["submitted"]}
    ]
    ends = dict.fromkeys(how for setup in shown for how in setup.process_ends)
    told = dict.fromkeys(how for setup in shown for how in setup.outcomes)
    rows = [
        (
            setup.key,
            *(str(setup.process_ends.get(how, 0)) for how in ends),
            *(str(setup.outcomes.get(how, 0)) for how in told),
        )
        for setup in shown
    ]
    header = ("SETUP", *map(str.upper, ends), *(f"AGENT: {how}".upper() for how in told))
    notes = ["Columns AGENT are as reported by the agents."] * bool(told)
    return section("endings", "How the agents' processes ended", header, rows, notes)


def flagged(setups: Sequence[SetupSummary]) -> Section:
    """What the findings change: the main rate of each setup with and without its flagged runs."""
    rows = []
    for setup in setups:
        found = setup.planned_rates
        if setup.main_rate and found and found.without_flagged is not None:
            before, after = setup.main_rate, found.without_flagged[setup.goal]
            rows.append((setup.key, str(setup.flagged), rate_name(setup.goal), rate(before), rate(after)))
    header = ("SETUP", "FLAGGED", "RATE", "ALL RUNS %", f"{FLAGGED.upper()} %")
    return section("flagged", "What the findings change", header, rows)


def findings(setups: Sequence[SetupSummary], flagging: bool = False) -> Section:
    """``flagging``: only those that flag a run."""
    rows = [
        (
            setup.key,
            line.run,
            found.detector,
            found.verdict,
            NONE if found.confidence is None else f"{100 * found.confidence:.0f}",
            found.rule or NONE,
            found.summary,
            "; ".join(map(place, found.evidence[:_SHOWN])) or NONE,
        )
        for setup in setups
        for line in setup.runs
        for found in (*line.suspicions, *(() if flagging else line.remarks))
    ]
    header = ("SETUP", "RUN", "DETECTOR", "VERDICT", "CONFIDENCE %", "RULE", "SUMMARY", "WHERE")
    return section("findings", "Flagged by detectors" if flagging else "Findings of detectors", header, rows)


def detectors(setups: Sequence[SetupSummary]) -> Section:
    header = ["SETUP", "DETECTOR", "VERSION", *(outcome.upper() for outcome in OUTCOMES)]
    rows = [
        (
            setup.key,
            use.detector,
            ", ".join(use.versions) or NONE,
            *(str(use.outcomes.get(outcome, 0)) for outcome in OUTCOMES),
            str(use.not_judged),
            quantity(use.tokens),
            quantity(use.cost_usd),
        )
        for setup in setups
        for use in setup.detectors
    ]
    problems = (
        (setup.key, f"{use.detector}: {problem}")
        for setup in setups
        for use in setup.detectors
        for problem in use.problems
    )
    header += ["NOT JUDGED", "TOKENS", "US DOLLARS"]
    return section("detectors", "Detectors", header, rows, said_once(problems, len(setups)))


def notes(setups: Sequence[SetupSummary]) -> Section:
    said = said_once(((setup.key, note) for setup in setups for note in setup.notes), len(setups))
    return section("notes", "Notes", (), (), said)
