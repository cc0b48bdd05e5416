"""The conditions of the runs, and how the figures are computed: the text that a paper can cite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mle_ext_report.cells import NONE, Section, section
from mle_ext_report.document import Document, SetupSummary
from mle_ext_report.rates import PERCENTILE


def differences(setups: Sequence[SetupSummary]) -> Section:
    """Conditions that are not the same for all runs of a setup."""
    rows = [(setup.key, name, " | ".join(values)) for setup in setups for name, values in setup.differences.items()]
    return section("differences", "Conditions that differ within a setup", ("SETUP", "CONDITION", "VALUES"), rows)


MAIN = ("time limit", "CPUs", "memory", "GPUs", "network", "backend", "hardware class")
"""Conditions that most readers want to know."""


def alike(setups: Sequence[SetupSummary]) -> dict[str, str]:
    """Conditions that all setups share."""
    first, *others = (setup.conditions for setup in setups)
    return {name: value for name, value in first.items() if all(of.get(name) == value for of in others)}


def unlike(setups: Sequence[SetupSummary]) -> Section:
    """A row for each condition that setups do not share, a column for each setup."""
    shared = alike(setups)
    names = dict.fromkeys(name for setup in setups for name in setup.conditions if name not in shared)
    rows = [(name, *(setup.conditions.get(name, NONE) for setup in setups)) for name in names]
    header = ("CONDITION", *(setup.key for setup in setups))
    return section("unlike", "Conditions that differ between setups", header, rows)


def conditions(setups: Sequence[SetupSummary]) -> Section:
    """Conditions that all setups share."""
    return section("conditions", "Conditions of all runs", ("CONDITION", "VALUE"), alike(setups).items())


def methods(document: Document) -> Section:
    """How the figures in this report are computed."""
    rows = ((figure, computed, source or NONE) for figure, computed, source in _methods(document))
    return section("methods", "How the figures are computed", ("FIGURE", "COMPUTED AS", "SOURCE"), rows)


def _methods(document: Document) -> Iterator[tuple[str, str, str]]:
    setups = document.setups
    yield (
        "Rates, ±",
        "For each seed the share of competitions; then mean ± one standard error over seeds. Seeds that lack "
        "a graded run are left out, or count missing runs as failures with --pad-missing.",
        "Chan et al. 2025, MLE-bench, ICLR (arXiv 2410.07095)",
    )
    if any(setup.no_medals is None for setup in setups):
        yield (
            "Medals",
            "Kaggle's rules on the private leaderboard of each competition, with MLE-bench's thresholds.",
            "Chan et al. 2025",
        )
    if any(found for setup in setups for row in setup.rates for found in row.intervals.values()):
        yield (
            "95 % interval of a rate",
            "Over competitions: Wilson's interval with the effective number of trials of clustered data.",
            "Wilson 1927, JASA 22, 209-212; Korn and Graubard 1998, Survey Methodology 24, 193-201",
        )
    if any(setup.position is not None for setup in setups):
        yield (
            "Position",
            "Where a score lies between the sample submission (0) and gold (1), cut off at both ends; "
            "0 without a valid submission.",
            "",
        )
    if any(row.rates.rates.get(PERCENTILE) for setup in setups for row in setup.rates):
        yield (
            "Percentile",
            "The share of teams on the human leaderboard that are not better, ties in the run's favour as for medals; "
            "0 without a valid submission. Averaged as rates are. The median human, the medals' thresholds and the "
            "sample submission are placed in the same way.",
            "Mean percentile rank: Hambardzumyan et al. 2026, AIRA2 (arXiv 2603.26499)",
        )
    if any(found.differences for found in document.comparisons):
        yield (
            "Difference, its interval and p",
            "Mean difference over competitions; exact two-sided sign-flip test; the interval inverts that "
            "test and is widened to Newcombe's for paired proportions where that is wider.",
            "Fisher 1935, The Design of Experiments, section 21; Hartigan 1969, JASA 64; Newcombe 1998, "
            "Statistics in Medicine 17, 2635-2650",
        )
        yield (
            "Wins by score",
            "The probability that a run of the first setup scores better than one of the second on the same "
            "competition; ties count half, no valid submission is worse than any.",
            "Vargha and Delaney 2000, J. Educ. Behav. Statistics 25",
        )
    if any(row.p_holm is not None for found in document.comparisons for row in found.differences):
        yield (
            "p (Holm)",
            "p corrected for the number of pairs, rate by rate; intervals are those of each pair alone.",
            "Holm 1979, Scand. J. Statistics 6, 65-70",
        )
    if any(len(setup.pass_at_k) > 1 for setup in setups):
        yield (
            "pass@k",
            "1 - C(n-c, k) / C(n, k) for c successes of n runs, mean over competitions.",
            "Chen et al. 2021 (arXiv 2107.03374), section 2.1",
        )
    if any(setup.flagged for setup in setups):
        yield (
            "Flagged as failures",
            "The same figure with runs that a detector flagged counted as failures.",
            "",
        )
    if document.power:
        yield (
            "Chance to tell two setups apart",
            "The test above on reports simulated with the correlations of the observed runs: threshold model of a "
            "competition's difficulty, how much it suits a setup, and chance.",
            "Ochi and Prentice 1984, Biometrika 71, 531-543",
        )
        yield (
            "Competitions that stand for all",
            "Forward selection by Pearson's correlation with shrunk covariances; cross-validated by leaving out "
            "pairs of setups.",
            "Airola et al. 2011, Computational Statistics & Data Analysis 55, 1828-1844",
        )
