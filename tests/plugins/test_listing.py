"""What is installed is listed without importing it: names, states, disabled plugins, metadata of any kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from mlecore.errors import UsageError
from mlecore.model.plugin import Plugin
from mlecore.plugins import discovery
from mlecore.plugins.discovery import installed
from mlecore.plugins.loading import load
from mlecore_testing.site_packages import forget

DETECTOR = """
from mlecore.hookspecs import hookimpl
@hookimpl
def detector(): ...
@hookimpl
def detect(run): ...
"""
BOMB = "raise SystemExit('a plugin was imported')\n"

LIST = """
import json, sys
from mlecore.plugins.discovery import installed
from mlecore.plugins.competitions import all_competitions
found = [[p.kind, p.name, p.version, p.distribution, p.state, p.summary] for p in installed()]
ids = [c.facts.title for c in all_competitions()]
print(json.dumps([found, ids, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


AGENT_HOOKS = """
from mlecore.hookspecs import hookimpl
@hookimpl
def agent(): ...
@hookimpl
def launch(task): ...
"""


def found(name: str, kind: str = "agent") -> Plugin:
    (plugin,) = [plugin for plugin in installed(kind) if plugin.name == name]
    return plugin


def test_listing_imports_no_plugin_and_nothing_heavy(put, put_competition, tmp_path):
    put("mle-agent-bomb", "bomb_agent", BOMB + AGENT_HOOKS)
    put_competition("bomb", BOMB)
    done = subprocess.run(
        [sys.executable, "-c", LIST],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=True,
    )
    listed, titles, modules = json.loads(done.stdout)
    assert ["agent", "bomb", "1.0", "mle-agent-bomb", "ok", "of mle-agent-bomb"] in listed
    assert ["competition", "bomb", "1.0", "mle-comp-bomb", "ok", "of mle-comp-bomb"] in listed
    assert "Title of bomb" in titles
    heavy = {"bomb_agent", "bomb_comp", "numpy", "pandas", "polars", "sklearn", "docker", "kubernetes", "kaggle"}
    assert not heavy & set(modules)
    assert not any(name.startswith("mle_") for name in modules)


def test_a_taken_name_goes_to_the_package_that_is_called_after_it(put):
    put("aaa-agents", "aaa_agents", name="twice")
    put("mle-agent-twice", "mle_twice", name="twice")
    put("zzz-agents", "zzz_agents", name="twice")
    states = {p.distribution: (p.state, p.reason) for p in installed("agent") if p.name == "twice"}
    taken = ("shadowed", "mle-agent-twice provides this name")
    assert states == {"aaa-agents": taken, "mle-agent-twice": ("ok", ""), "zzz-agents": taken}
    assert load("agent", "twice").plugin.distribution == "mle-agent-twice"


def test_the_first_distribution_on_the_path_counts(put, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path / "earlier"))
    put("mle-agent-double", "double_agent", version="1.0")
    put("mle-agent-double", "double_agent", version="2.0", into=tmp_path / "earlier")
    assert found("double").version == "2.0"


@pytest.mark.parametrize(
    ("requires", "reason"),
    [
        ("mlecore>=99", "needs mlecore>=99, but mlecore"),
        ("mlecore>=0.0.1", ""),
        ("mlecore-extras>=99", ""),
        ('mlecore>=99; python_version < "3"', ""),
        ("mlecore[lite]>=99", "needs mlecore[lite]>=99"),
        ("mlecore>=not a version", "its Requires-Dist cannot be read"),
    ],
)
def test_a_plugin_for_another_core_says_so(put, requires, reason):
    put("mle-agent-picky", "picky_agent", headers=f"Requires-Dist: pandas\nRequires-Dist: {requires}\n")
    assert found("picky").reason.startswith(reason)
    assert found("picky").state == ("incompatible" if reason else "ok")


@pytest.mark.parametrize("name", ["../../x", ".hidden", "\x1b[2J", "x" * 101])
def test_a_name_that_is_no_name_is_broken(put, name):
    put("mle-agent-odd", "odd_agent", points=f"[mlecore.agents]\n{name} = odd_agent\n")
    (odd,) = [plugin for plugin in installed("agent") if plugin.distribution == "mle-agent-odd"]
    assert odd.state == "broken"
    assert odd.reason.startswith("its name may have letters")
    assert odd.name.isprintable()


@pytest.mark.parametrize("module", ["../../x", "a..b", "\x1b[2J", "json./etc/hosts"])
def test_a_module_that_is_none_is_broken(put, module):
    put("mle-agent-odd", "odd_agent", points=f"[mlecore.agents]\nodd = {module}\n")
    assert found("odd").state == "broken"
    assert "cannot be found" in found("odd").reason
    assert found("odd").reason.isprintable()


@pytest.mark.parametrize(
    ("group", "kind", "hint"),
    [
        ("mlecore.agent", "agent", "unknown group mlecore.agent; did you mean mlecore.agents?"),
        ("mlecore.competetions", "competition", "did you mean mlecore.competitions?"),
        ("mle_core.agents", "agent", "unknown group mle_core.agents; did you mean mlecore.agents?"),
        ("MLEcore-Agents", "agent", "did you mean mlecore.agents?"),
        ("mlecore.zzz", "mlecore.zzz", "unknown group mlecore.zzz; available: mlecore.competitions, mlecore.agents, "),
    ],
)
def test_a_misspelled_group_is_listed_with_the_right_one(put, group, kind, hint):
    put("mle-agent-lost", "lost_agent", points=f"[{group}]\nlost = lost_agent\n")
    lost = found("lost", kind)
    assert lost.state == "broken"
    assert hint in lost.reason


@pytest.mark.parametrize("value", ["dummy", "agents:dummy", "agent:one;agent:two"])
def test_a_setting_that_disables_nothing_is_an_error(put, monkeypatch, value):
    put("mle-agent-one", "one_agent")
    monkeypatch.setenv("MLECORE_DISABLE_PLUGINS", value)
    forget()
    if value == "agent:one;agent:two":  # a name that is not installed
        assert installed("agent")
        assert discovery.disabled_in_vain() == [value]
    else:
        with pytest.raises(UsageError, match=r"MLECORE_DISABLE_PLUGINS names .* which is not KIND:NAME"):
            installed("agent")


def test_named_plugins_are_switched_off(put, monkeypatch):
    put("mle-agent-one", "one_agent", BOMB)
    put("mle-agent-two", "two_agent")
    put("mle-detector-two", "two_detector", DETECTOR, kind="detector")
    monkeypatch.setenv("MLECORE_DISABLE_PLUGINS", "agent:one, agent:two")
    forget()
    for name in ("one", "two"):
        assert (found(name).state, found(name).reason) == ("disabled", "named in MLECORE_DISABLE_PLUGINS")
    assert found("two", "detector").state == "ok"


def test_damaged_metadata_affects_no_other_plugin(put, tmp_path):
    put("mle-agent-fine", "fine_agent")
    put("mle-agent-nohead", "nohead_agent")
    site = tmp_path / "site"
    (site / "mle_agent_nohead-1.0.dist-info" / "METADATA").unlink()
    put("mle-agent-garbage", "garbage_agent", points="[mlecore.agents]\n= nothing\nno value\n")
    (site / "mle_agent_empty-1.0.dist-info").mkdir()
    forget()
    assert found("fine").state == "ok"
    assert installed("competition") is not None
