"""A competition's other modules: ``v2.py`` replaces hooks in edition v2 only, and ``synthetic.py`` adds some."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlecore.errors import PluginError, UsageError
from mlecore.plugins.competitions import competition
from mlecore.plugins.loading import load

Put = Callable[..., Path]

V1 = """
from mlecore.hookspecs import hookimpl


@hookimpl
def prepare(raw, public, private):
    (public / "v1").write_text("")


@hookimpl
def grade(submission, private, format):
    return 1.0


@hookimpl
def examine(predictions):
    pass
"""
V2 = """
import coins_comp as v1
from mlecore.hookspecs import hookimpl


@hookimpl
def prepare(raw, public, private):
    v1.prepare(raw, public, private)
    (public / "v2").write_text("")
"""
FACTS = """
id = "coins"
title = "Coins"
modality = "tabular"
task = "guessing"
metric = "accuracy"
direction = "maximize"
answers = "private/a.csv"
sample = "public/s.csv"
thresholds = { gold = 0.9, silver = 0.8, bronze = 0.7, median = 0.6 }
check_incomplete = "odd"
[submission]
id = "id"
ids = "set"
rows = "any"
columns.side = { type = "number", missing = true }
columns.mark = { type = "mask", missing = true, pixels = 4 }
[md5]
zip = "00000000000000000000000000000000"
"public/s.csv" = "00000000000000000000000000000000"
[[known_issues]]
what = "tails"
effect = "none"
mended = "v2"
[editions.v2]
changes = "Heads."
thresholds = "near"
[[editions.v2.description]]
old = "Which side"
new = "Which one"
"""


SYNTHETIC = """
import coins_comp as v1
from mlecore.hookspecs import hookimpl


@hookimpl
def make_raw(raw, seed, size):
    (raw / "rows").write_text(v1.__name__)
"""


def put_competition(put: Put, v2: str = V2, facts: str = FACTS, synthetic: str = SYNTHETIC) -> None:
    points = "[mlecore.competitions]\ncoins = coins_comp\n"
    file = put("mle-comp-coins", "coins_comp.__init__", V1, kind="competition", points=points)
    file.with_name("description.md").write_text("Which side do coins fall on?")
    file.with_name("v2.py").write_text(v2)
    file.with_name("synthetic.py").write_text(synthetic)
    file.with_name("competition.toml").write_text(facts)


@pytest.mark.parametrize(
    ("edition", "files"), [("v1", ["description.md", "v1"]), ("v2", ["description.md", "v1", "v2"])]
)
def test_its_hooks_replace_those_of_v1(put: Put, tmp_path: Path, edition: str, files: list[str]) -> None:
    put_competition(put)
    (tmp_path / "raw").mkdir()
    competition("coins", edition).prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")
    assert sorted(path.name for path in (tmp_path / "public").iterdir()) == files
    loaded = load("competition", "coins", edition)
    assert sorted(loaded.hooks) == ["examine", "grade", "make_raw", "prepare"]
    loaded.call("make_raw", raw=tmp_path, seed=0, size=1.0)
    assert (tmp_path / "rows").read_text() == loaded.module.__name__ == "coins_comp"


def test_a_grade_of_its_own_does_without_the_rules_of_v1(put: Put) -> None:
    put_competition(put, v2=V2.replace("def prepare(raw, public, private)", "def grade(submission)"))
    assert competition("coins").own_rules
    assert not competition("coins", "v2").own_rules


def test_facts_of_an_edition(put: Put) -> None:
    put_competition(put)
    v1, v2 = competition("coins"), competition("coins", "v2")
    assert (v1.facts.comparability, v2.facts.comparability) == ("same", "near")
    assert (len(v1.facts.known_issues), len(v2.facts.known_issues)) == (1, 0)
    assert (len(v1.facts.md5), list(v2.facts.md5)) == (2, ["zip"])
    assert v2.facts.description == "Which one do coins fall on?"
    assert (v1.format.ids, v2.format.ids, v2.format.rows) == ("set", "list", "same")
    assert (v1.format.columns["side"].missing, v2.format.columns["side"].missing) == (True, False)
    assert v2.format.columns["mark"].missing  # an empty mask is a prediction
    with pytest.raises(UsageError, match="no edition 'v3'; available: v1, v2"):
        competition("coins", "v3")


def test_a_passage_is_of_both_descriptions_or_of_one(put: Put) -> None:
    only = 'only = "{}"\nold = "Which"\nnew = "{}"\n'
    tables = [only.format("description.md", "What"), only.format("description_obfuscated.md", "Whose")]
    put_competition(put, facts=FACTS + "".join(f"[[editions.v2.description]]\n{table}" for table in tables))
    v2 = competition("coins", "v2").facts
    with pytest.raises(UsageError, match=r"coins has no description_obfuscated\.md in its package"):
        _ = v2.obfuscated_description
    (v2.folder / "description_obfuscated.md").write_text("Which side do they fall on?")
    assert competition("coins").facts.obfuscated_description == "Which side do they fall on?\n"
    assert v2.obfuscated_description == "Whose one do they fall on?\n"
    assert v2.description == "What one do coins fall on?"


def test_a_passage_that_is_not_there_is_an_error(put: Put) -> None:
    put_competition(put, facts=FACTS.replace("Which side", "Which colour"))
    with pytest.raises(PluginError, match=r"description\.md lacks what edition v2 replaces: 'Which colour'"):
        _ = competition("coins", "v2").facts.description


def test_a_mere_heading_stands_for_the_section_of_the_description(put: Put) -> None:
    put_competition(put, facts=FACTS + '[obfuscated.replace]\n"coin" = "thing"\n')
    facts = competition("coins").facts
    (facts.folder / "description.md").write_text(
        "# Coins\n\nThrow.\n\n## Files\n\nOne a coin.\n\n## Metric\n\nHeads.\n"
    )
    (facts.folder / "description_obfuscated.md").write_text("# Things\n\n## Files\n\n## Metric\n\nOne side.\n")
    assert facts.obfuscated_description == "# Things\n\n## Files\n\nOne a thing.\n\n## Metric\n\nOne side.\n"
    (facts.folder / "description.md").write_text("# Money\n")
    with pytest.raises(PluginError, match=r"description\.md lacks what \[obfuscated\.replace\] replaces: 'coin'"):
        _ = competition("coins", "v1").facts.in_edition("v2").obfuscated_description


@pytest.mark.parametrize(
    ("name", "source", "reason"),
    [
        ("v2", "import no_such_module_here\n", "v2.py: fails to import: no module named 'no_such_module_here'"),
        ("v2", V2.replace("def prepare", "def prepared"), "v2.py: implements an unknown hook: prepared"),
        ("synthetic", SYNTHETIC.replace("make_raw", "make_row"), "synthetic.py: implements an unknown hook: make_row"),
        ("synthetic", "1 / 0\n", "fails to import: ZeroDivisionError"),
    ],
)
def test_a_broken_one_breaks_the_plugin(put: Put, name: str, source: str, reason: str) -> None:
    put_competition(put, **{name: source})
    with pytest.raises(PluginError, match=reason):
        load("competition", "coins")
