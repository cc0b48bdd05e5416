"""The hooks of a competition's synthetic.py belong to the plugin, and what is wrong with it breaks the plugin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlecore.errors import PluginError
from mlecore.registry.loading import load

Put = Callable[..., Path]

COMPETITION = """
from mlecore.hookspecs import hookimpl

ROWS = 3


@hookimpl
def prepare(raw, public, private): ...


@hookimpl
def grade(submission, private, format): ...
"""
SYNTHETIC = """
from coins_comp import ROWS
from mlecore.hookspecs import hookimpl


@hookimpl
def make_raw(raw, seed, size):
    (raw / "rows").write_text(str(ROWS))
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
[submission]
id = "id"
columns.side = { type = "label" }
"""


def competition(put: Put, synthetic: str) -> None:
    points = "[mlecore.competitions]\ncoins = coins_comp\n"
    file = put("mle-comp-coins", "coins_comp.__init__", COMPETITION, kind="competition", points=points)
    file.with_name("description.md").write_text("Which side do coins fall on?")
    file.with_name("synthetic.py").write_text(synthetic)
    file.with_name("competition.toml").write_text(FACTS)


def test_its_hooks_belong_to_the_plugin(put: Put, tmp_path: Path) -> None:
    competition(put, SYNTHETIC)
    loaded = load("competition", "coins")
    assert sorted(loaded.hooks) == ["grade", "make_raw", "prepare"]
    loaded.call("make_raw", raw=tmp_path, seed=0, size=1.0)
    assert (tmp_path / "rows").read_text() == "3"
    assert loaded.module.__name__ == "coins_comp"


@pytest.mark.parametrize(
    ("synthetic", "reason"),
    [
        ("import no_such_module_here\n", "synthetic.py: fails to import: no module named 'no_such_module_here'"),
        (SYNTHETIC.replace("make_raw", "make_row"), "synthetic.py: implements an unknown hook: make_row"),
        ("1 / 0\n", "fails to import: ZeroDivisionError"),
    ],
)
def test_a_broken_one_breaks_the_plugin(put: Put, synthetic: str, reason: str) -> None:
    competition(put, synthetic)
    with pytest.raises(PluginError) as caught:
        load("competition", "coins")
    assert reason in str(caught.value)
