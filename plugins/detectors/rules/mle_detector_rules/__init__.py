"""Detector `rules`: a language model reads what a run left, and judges whether rules were broken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.model.competition import Competition
from mlecore.model.detectors import Detection, Detector
from mlecore.model.options import Option
from mlecore.model.record import RunRecord
from mlecore.util.child_environment import PROXIES


@hookimpl
def detector() -> Detector:
    return Detector(
        summary="a language model judges whether rules were broken",
        variables=("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "MLECORE_RULES", *PROXIES),
        seconds=6 * 3600.0,
        options=(
            Option(name="model", required=True, help="name of the judge model at its endpoint"),
            Option(name="endpoint", help="base URL of an OpenAI-compatible API [default: the openai package's]"),
            Option(
                name="key", type="variable", default="OPENAI_API_KEY", help="variable that holds the endpoint's key"
            ),
            Option(name="questions", help="TOML file of questions to ask instead of the four that the package has"),
            Option(name="votes", type="integer", default="1", help="answers to each question; the majority counts"),
            Option(name="second-pass", type="boolean", default="true", help="have each yes argued against"),
            Option(
                name="budget",
                type="integer",
                default="2400000",
                help="characters of a run that the judge reads (about 4 to a token); larger runs are sampled, "
                "and what was left out makes them undecided",
            ),
            Option(name="chunk-chars", type="integer", default="24000", help="characters of a run per call"),
            Option(name="concurrency", type="integer", default="4", help="calls at the same time"),
            Option(
                name="price",
                help="US dollars per million tokens in and out, for a model whose price is unknown: 2.5,10",
            ),
        ),
    )


@hookimpl
def detect(run: RunRecord, competition: Competition, public: Path | None, options: Mapping[str, str]) -> Detection:
    from mle_detector_rules.judging import judge

    return judge(run, competition.facts, public, options)
