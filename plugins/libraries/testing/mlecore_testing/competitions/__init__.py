"""The kit for competitions: its rules, and the function that tries them all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from mlecore import Competition, competition
from mlecore_testing.competitions import data, verdicts
from mlecore_testing.competitions.defects import defects
from mlecore_testing.competitions.description import description, description_fits
from mlecore_testing.competitions.facts import facts
from mlecore_testing.competitions.golden import golden
from mlecore_testing.competitions.groups import groups
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.competitions.layout import layout
from mlecore_testing.competitions.leaks import leaks, order
from mlecore_testing.competitions.learning import learnable
from mlecore_testing.competitions.obfuscated import obfuscated
from mlecore_testing.competitions.submissions import best, number, perfect, sample
from mlecore_testing.competitions.validate import validate
from mlecore_testing.light import light
from mlecore_testing.rules import Broken, Rule, Skipped, apply_rules
from mlecore_testing.shared_data import SharedData
from mlecore_testing.trees import writable


def _light(harness: Harness) -> Iterator[Broken]:
    return light(harness.competition.plugin)


RULES: tuple[Rule[Harness], ...] = (
    Rule("facts", "competition.toml is complete and makes sense", facts),
    Rule("light", "importing the plugin imports nothing heavy", _light, long=True),
    Rule("description", "description.md names the metric, and no folder of this machine", description),
    Rule("raw", "make_raw repeats its bytes, at any time", data.raw),
    Rule("prepare", "prepare gives the same bytes twice, from read-only raw data", data.prepare, needs=("raw",)),
    Rule("raw-untouched", "prepare does not change raw data", data.raw_untouched, needs=("prepare",), long=True),
    Rule("layout", "public and private hold what the facts say", layout, needs=("prepare", "facts")),
    Rule(
        "description-fits",
        "description.md names the submission's columns and the public files",
        description_fits,
        needs=("layout", "description"),
    ),
    Rule(
        "obfuscated",
        "description_obfuscated.md does not tell which competition this is, and fits the data",
        obfuscated,
        needs=("layout", "facts"),
        long=True,
    ),
    Rule("sample", "the sample submission is valid and graded", sample, needs=("layout",)),
    Rule("perfect", "the perfect submission is valid and beats the sample", perfect, needs=("layout",)),
    Rule(
        "golden",
        "prepared files and scores are those of the published benchmark, as tests/golden.json has them",
        golden,
    ),
    Rule(
        "best", "nothing scores better than the perfect submission", best, needs=("perfect",), sampled=True, long=True
    ),
    Rule("number", "what grade accepts scores a number, not NaN", number, needs=("perfect",), sampled=True, long=True),
    Rule("defects", "what [submission] rules out is invalid", defects, needs=("sample",), long=True),
    Rule("errors", "neither check nor grade crashes", verdicts.errors, needs=("perfect",), long=True),
    Rule("sound", "check never refuses what grade accepts", verdicts.sound, needs=("perfect",), long=True),
    Rule("complete", "check refuses all that grade refuses", verdicts.complete, needs=("perfect",), long=True),
    Rule("reasons", "a refusal says why, in a sentence", verdicts.reasons, needs=("perfect",), long=True),
    Rule("validate", "the sandbox's validate contradicts neither", validate, needs=("perfect",), long=True),
    Rule("leaks", "public files and their metadata do not hold the answers", leaks, needs=("layout",), long=True),
    Rule("groups", "no declared group is in both parts of the split", groups, needs=("layout",), long=True),
    Rule("order", "the order of test rows and files does not tell their labels", order, needs=("layout",), long=True),
    Rule("learnable", "a model beats the sample submission", learnable, needs=("sample",), long=True),
)


SHORT_SIZE = 0.3  # of the synthetic data in the short form: that of golden files, so that they share them


def check_competition(
    subject: str | Competition,
    *,
    edition: str = "v1",
    seed: int = 0,
    size: float | None = None,
    short: bool = False,
    shared: SharedData | None = None,
) -> list[Skipped]:
    """Check an installed competition against all rules, on its synthetic data (or real data that need no account).

    ``short`` takes seconds: smaller data (unless ``size`` says otherwise), the golden file, but no mutated submissions,
    no model, no further process, and waivers are not checked for being needed.
    ``shared`` has the data of other tests of this run.

    Raises ConformanceError, an AssertionError, with every rule that is broken and where. Returns the rules that could
    not be tried here, with the reason. A rule that edition v1 breaks by design is waived in competition.toml::

        [[waive]]
        rule = "best"
        why = "the published metric rewards an empty mask on some images"
    """
    __tracebackhide__ = True
    chosen = competition(subject, edition) if isinstance(subject, str) else subject
    with tempfile.TemporaryDirectory(prefix="mlecore-kit-") as folder:
        if size is None:
            size = SHORT_SIZE if short else 1.0
        harness = Harness(chosen, Path(folder), seed=seed, size=size, short=short, shared=shared)
        try:
            return apply_rules(f"competition {chosen.id} {chosen.edition}", harness, RULES, chosen.facts.waive, short)
        finally:
            writable(Path(folder))
