"""How each figure of a report is computed, with its source: the text that a paper can cite."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from mlecore.reports.document import Document


@frozen(kw_only=True)
class Method:
    figure: str
    computed: str
    source: str = ""


def methods(document: Document) -> tuple[Method, ...]:
    """Of the figures that this report has."""
    return tuple(_methods(document))


def _methods(document: Document) -> Iterator[Method]:
    setups = document.setups
    yield Method(
        figure="Rates, ±",
        computed="For each seed the share of competitions; then mean ± one standard error over seeds. Seeds that lack "
        "a graded run are left out, or count missing runs as failures with --pad-missing.",
        source="Chan et al. 2025, MLE-bench, ICLR (arXiv 2410.07095)",
    )
    if any(setup.no_medals is None for setup in setups):
        yield Method(
            figure="Medals",
            computed="Kaggle's rules on the private leaderboard of each competition, with MLE-bench's thresholds.",
            source="Chan et al. 2025",
        )
    if any(found for setup in setups for row in setup.rates for found in row.intervals.values()):
        yield Method(
            figure="95 % interval of a rate",
            computed="Over competitions: Wilson's interval with the effective number of trials of clustered data.",
            source="Wilson 1927, JASA 22, 209-212; Korn and Graubard 1998, Survey Methodology 24, 193-201",
        )
    if any(setup.position is not None for setup in setups):
        yield Method(
            figure="Position",
            computed="Where a score lies between the sample submission (0) and gold (1), cut off at both ends; "
            "0 without a valid submission.",
        )
    if any(found.differences for found in document.comparisons):
        yield Method(
            figure="Difference, its interval and p",
            computed="Mean difference over competitions; exact two-sided sign-flip test; the interval inverts that "
            "test and is widened to Newcombe's for paired proportions where that is wider.",
            source="Fisher 1935, The Design of Experiments, section 21; Hartigan 1969, JASA 64; Newcombe 1998, "
            "Statistics in Medicine 17, 2635-2650",
        )
        yield Method(
            figure="Wins by score",
            computed="The probability that a run of the first setup scores better than one of the second on the same "
            "competition; ties count half, no valid submission is worse than any.",
            source="Vargha and Delaney 2000, J. Educ. Behav. Statistics 25",
        )
    if any(row.p_holm is not None for found in document.comparisons for row in found.differences):
        yield Method(
            figure="p (Holm)",
            computed="p corrected for the number of pairs, rate by rate; intervals are those of each pair alone.",
            source="Holm 1979, Scand. J. Statistics 6, 65-70",
        )
    if any(len(setup.pass_at_k) > 1 for setup in setups):
        yield Method(
            figure="pass@k",
            computed="1 - C(n-c, k) / C(n, k) for c successes of n runs, mean over competitions.",
            source="Chen et al. 2021 (arXiv 2107.03374), section 2.1",
        )
    if any(setup.flagged for setup in setups):
        yield Method(
            figure="Flagged as failures",
            computed="The same figure with runs that a detector flagged counted as failures.",
        )
