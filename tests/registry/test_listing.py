"""What is installed is listed without importing it; what cannot work says why; nothing breaks the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from mlecore.errors import PluginError, UsageError
from mlecore.registry import Plugin, discovery, load, plugins

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
from mlecore.registry import plugins
from mlecore.competitions import installed
found = [[p.kind, p.name, p.version, p.distribution, p.state, p.summary] for p in plugins()]
ids = [c.facts.title for c in installed()]
print(json.dumps([found, ids, sorted({name.partition(".")[0] for name in sys.modules})]))
"""

FACTS = """
id = "{id}"
title = "Title of {id}"
modality = "tabular"
task = "regression"
metric = "rmse"
direction = "minimize"
answers = "private/test.csv"
sample = "public/sample_submission.csv"
[submission]
id = "id"
columns.y = {{ type = "number" }}
"""

COMPETITION = """
from mlecore.hookspecs import hookimpl


@hookimpl
def prepare(raw, public, private):
    return None


@hookimpl
def grade(submission, private):
    return 0.0
"""


def found(name: str, kind: str = "agent") -> Plugin:
    (plugin,) = [plugin for plugin in plugins(kind) if plugin.name == name]
    return plugin


def test_listing_imports_no_plugin_and_nothing_heavy(put, tmp_path):
    put("mle-agent-bomb", "bomb_agent", BOMB + AGENT_HOOKS)
    put("mle-comp-bomb", "bomb_comp.thing", BOMB + COMPETITION, kind="competition", name="bomb")
    (tmp_path / "site" / "bomb_comp" / "__init__.py").write_text(BOMB)
    (tmp_path / "site" / "bomb_comp" / "competition.toml").write_text(FACTS.format(id="bomb"))
    (tmp_path / "site" / "bomb_comp" / "description.md").write_text("What to do.")
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


BROKEN = {
    "a syntax error": ("def agent(:\n", "fails to import: invalid syntax"),
    "a NUL byte": ("x = 1\0\n", "fails to import: "),
    "an import of what is not there": (
        "import no_such_module_here\n" + "def agent(): ...\ndef launch(): ...\n",
        "fails to import: no module named 'no_such_module_here'",
    ),
    "an import from what is not there": (
        "from no_such_package.part import x\n",
        "fails to import: no module named 'no_such_package.part'",
    ),
    "a required hook is missing": (
        "from mlecore.hookspecs import hookimpl\n@hookimpl\ndef agent(): ...\n",
        "lacks the required hook launch",
    ),
    "a required hook is not marked": (
        "from mlecore.hookspecs import hookimpl\n@hookimpl\ndef agent(): ...\ndef launch(task): ...\n",
        "launch is not marked with hookimpl",
    ),
    "an unknown hook": (
        "from mlecore.hookspecs import hookimpl\n@hookimpl\ndef agnet(): ...\n",
        "implements an unknown hook: agnet",
    ),
    "an argument with a default": (
        "from mlecore.hookspecs import hookimpl\n@hookimpl\ndef launch(task=None): ...\n",
        "hook launch: an argument has a default",
    ),
    "a keyword-only argument": (
        "from mlecore.hookspecs import hookimpl\n@hookimpl\ndef launch(*, task): ...\n",
        "hook launch: the argument task is keyword-only",
    ),
    "an unknown argument": (
        "from mlecore.hookspecs import hookimpl\n@hookimpl\ndef launch(job): ...\n",
        "hook launch: unknown argument job; there are: task",
    ),
    "hookimpl under another name": (
        "import mlecore.hookspecs as specs\n@specs.hookimpl(tryfirst=True)\ndef lunch(task): ...\n",
        "implements an unknown hook: lunch",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_plugin_is_listed_with_its_reason(put, what):
    source, reason = BROKEN[what]
    put("mle-agent-broken", "broken_agent", source)
    put("mle-agent-fine", "fine_agent")
    assert found("broken").state == "broken"
    assert reason in found("broken").reason
    assert found("fine").state == "ok"
    assert "broken_agent" not in sys.modules


def test_a_module_that_is_not_there(put):
    put("mle-agent-gone", "gone_agent").unlink()
    assert (found("gone").state, found("gone").reason) == ("broken", "the module gone_agent cannot be found")


@pytest.mark.parametrize(
    "source",
    [
        "from pluggy import HookimplMarker\nfrom other_agent_parts import agent, launch\n",
        "from other_agent_parts import *\n",
        "try:\n    import no_such_module_here\nexcept ImportError:\n    pass\n",
        "import os.path, mlecore.agents\n",
    ],
    ids=["hooks from elsewhere", "a star", "an optional import", "submodules"],
)
def test_what_can_work_is_not_called_broken(put, source, tmp_path):
    put("mle-agent-other", "other_agent_parts")
    hooks = "" if "other_agent_parts" in source else AGENT_HOOKS
    put("mle-agent-odd", "odd_agent", source + hooks)
    assert (found("odd").state, found("odd").reason) == ("ok", "")
    assert load("agent", "odd").hooks


AGENT_HOOKS = """
from mlecore.hookspecs import hookimpl
@hookimpl
def agent(): ...
@hookimpl
def launch(task): ...
"""


def test_relative_imports_are_looked_for_in_the_package(put, tmp_path):
    file = put("mle-agent-deep", "deep_agent.main", "from .parts import agent, launch\n")
    (file.parent / "__init__.py").touch()
    put("unrelated", "deep_agent.parts", kind="x")
    assert found("deep").origin == file
    assert found("deep").state == "ok"
    load("agent", "deep")


def test_a_taken_name_goes_to_the_package_that_is_called_after_it(put):
    put("aaa-agents", "aaa_agents", name="twice")
    put("mle-agent-twice", "mle_twice", name="twice")
    put("zzz-agents", "zzz_agents", name="twice")
    states = {p.distribution: (p.state, p.reason) for p in plugins("agent") if p.name == "twice"}
    taken = ("shadowed", "mle-agent-twice provides this name")
    assert states == {"aaa-agents": taken, "mle-agent-twice": ("ok", ""), "zzz-agents": taken}
    assert load("agent", "twice").plugin.distribution == "mle-agent-twice"


def test_one_name_of_two_kinds_is_no_clash(put):
    put("mle-agent-same", "same_agent")
    put("mle-detector-same", "same_detector", DETECTOR, kind="detector")
    assert found("same").state == found("same", "detector").state == "ok"


def test_the_first_distribution_on_the_path_counts(put, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path / "earlier"))
    put("mle-agent-double", "double_agent", version="1.0")
    put("mle-agent-double", "double_agent", version="2.0", into=tmp_path / "earlier")
    assert found("double").version == "2.0"


@pytest.mark.parametrize(
    ("requires", "reason"),
    [
        ("mlecore>=99", "needs mlecore>=99, but mlecore"),
        ("mlecore (>=0.1,<0.1)", "needs mlecore<0.1,>=0.1"),
        ("MLEcore == 99.*", "needs "),
        ("mlecore>=0.0.1", ""),
        ("mlecore", ""),
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


def test_facts_that_do_not_fit_break_a_competition(put):
    file = put("mle-comp-tiny", "tiny_comp.main", COMPETITION, kind="competition", name="tiny")
    (file.parent / "__init__.py").touch()
    (file.parent / "description.md").write_text("What to do.")
    facts = file.parent / "competition.toml"

    def reason(text: str | None) -> str:
        facts.unlink(missing_ok=True)
        if text is not None:
            facts.write_text(text)
        discovery._all_plugins.cache_clear()
        return found("tiny", "competition").reason

    assert "competition.toml is missing" in reason(None)
    assert reason(FACTS.format(id="tiny")) == ""
    assert "says id = 'other', the entry point 'tiny'" in reason(FACTS.format(id="other"))
    up = reason(FACTS.format(id="tiny").replace('"minimize"', '"up"'))
    assert f"{facts}: direction = 'up': expected one of 'maximize', 'minimize'" in up
    for text, words in [
        ("titel = 'x'", "unknown key titel; did you mean title?"),
        ("[[editions.v2]]\nchanges = 'x'", "editions.v2 = [{'changes': 'x'}]: expected a table"),
        ("[editions.v2.submission]\nid = 3", "editions.v2.submission.id = 3: expected text"),
        ("[expect]\nx = { row = 3 }", "expect.x"),
        ("leaks = [{ file = 'x' }]", "leaks[0].why is missing"),
        ("thresholds = 3", "thresholds = 3: expected a table"),
        ("deep = " + "[" * 5000, "nested too deep"),
        ("deep" + ".deep" * 5000 + " = 1", "nested too deep"),
        ("# " + "x" * 300_000, "more than"),
    ]:
        toml = FACTS.format(id="tiny")
        said = reason(f"{toml}\n{text}" if text.startswith("[") else f"{text}\n{toml}")
        assert words in said and str(facts) in said
    assert "competition.toml" in reason("id = ")
    assert "metric" in reason(FACTS.format(id="tiny").replace('metric = "rmse"', ""))
    assert "colour" in reason('colour = "blue"\n' + FACTS.format(id="tiny"))


def make_pipe(path):
    os.mkfifo(path)


def make_device(path):
    path.symlink_to("/dev/zero")


def make_huge(path):
    with path.open("wb") as sparse:
        sparse.truncate(1 << 40)


ODD_FILES = {
    "missing": lambda path: None,
    "a folder": lambda path: path.mkdir(),
    "a pipe": make_pipe,
    "a device": make_device,
    "a huge file": make_huge,
    "not UTF-8": lambda path: path.write_bytes(b"\xff\xfe\xff"),
    "empty": lambda path: path.touch(),
}


@pytest.mark.parametrize("odd", ODD_FILES)
@pytest.mark.parametrize("name", ["competition.toml", "description.md", "main.py"])
def test_an_odd_file_breaks_its_competition_alone(put, name, odd):
    file = put("mle-comp-odd", "odd_comp.main", COMPETITION, kind="competition", name="odd")
    put("mle-agent-fine", "fine_agent")
    (file.parent / "__init__.py").touch()
    (file.parent / "competition.toml").write_text(FACTS.format(id="odd"))
    (file.parent / "description.md").write_text("What to do.")
    (file.parent / name).unlink()
    ODD_FILES[odd](file.parent / name)
    discovery._all_plugins.cache_clear()
    discovery._all_entries.cache_clear()
    listed = found("odd", "competition")
    assert listed.state == "broken"
    assert name.removesuffix(".py") in listed.reason or name == "main.py"
    assert str(file) in str(listed) or (name, odd) == ("main.py", "missing")
    assert found("fine").state == "ok"
    with pytest.raises(PluginError, match="is broken"):
        load("competition", "odd")


@pytest.mark.parametrize(
    "code",
    [
        "x = " + " + ".join(["1"] * 30_000),
        "x = " + "-" * 100_000 + "1",
        "x = " + "(" * 100_000,
        "x = a" + ".b" * 100_000,
        "if a: pass\n" + "elif b: pass\n" * 900 + "from mlecore.hookspecs import hookimpl\n",
        "x = '" + "y" * 600_000 + "'",
        "x = " + "9" * 10_000,
    ],
    ids=["terms", "minuses", "parentheses", "attributes", "branches", "a long text", "a long number"],
)
def test_code_that_is_too_deep_breaks_its_plugin_alone(put, code):
    put("mle-agent-deep", "deep_agent", code)
    put("mle-agent-fine", "fine_agent")
    assert found("deep").state == "broken"
    assert len(found("deep").reason) < 400
    assert found("fine").state == "ok"


TOO_DEEP = {"lists": "a = " + "[" * 100_000, "tables": "a = " + "{a = " * 50_000, "keys": "a" + ".b" * 3_000 + " = 1"}


@pytest.mark.parametrize("what", TOO_DEEP)
def test_facts_that_are_too_deep_break_a_competition_alone(put, what):
    file = put("mle-comp-deep", "deep_comp.main", COMPETITION, kind="competition", name="deep")
    (file.parent / "__init__.py").touch()
    (file.parent / "competition.toml").write_text(TOO_DEEP[what])
    assert found("deep", "competition").state == "broken"
    assert "competition.toml" in found("deep", "competition").reason


@pytest.mark.parametrize("name", ["../../x", "a/b", ".hidden", "a b", "\x1b[2J", "x" * 101, "ä"])
def test_a_name_that_is_no_name_is_broken(put, name):
    put("mle-agent-odd", "odd_agent", points=f"[mlecore.agents]\n{name} = odd_agent\n")
    (odd,) = [plugin for plugin in plugins("agent") if plugin.distribution == "mle-agent-odd"]
    assert odd.state == "broken"
    assert odd.reason.startswith("its name may have letters")
    assert odd.name.isprintable()


@pytest.mark.parametrize("module", ["../../x", "..", "a..b", "no such module", "a/b", "\x1b[2J", "json./etc/hosts"])
def test_a_module_that_is_none_is_broken(put, module):
    put("mle-agent-odd", "odd_agent", points=f"[mlecore.agents]\nodd = {module}\n")
    assert found("odd").state == "broken"
    assert "cannot be found" in found("odd").reason
    assert found("odd").reason.isprintable()


def test_metadata_cannot_write_to_the_terminal(put):
    put("mle-agent-odd", "odd_agent", headers="Author: x\n", version="1.0")
    put("mle-agent-red", "red_agent", version="1.0\x1b[31m")
    assert found("red").version == "1.0\\x1b[31m"


@pytest.mark.parametrize(
    ("group", "kind", "hint"),
    [
        ("mlecore.agent", "agent", "unknown group mlecore.agent; did you mean mlecore.agents?"),
        ("mlecore.competetions", "competition", "did you mean mlecore.competitions?"),
        ("mlecore.zzz", "mlecore.zzz", "unknown group mlecore.zzz; there are: mlecore.competitions, mlecore.agents, "),
    ],
)
def test_a_misspelled_group_is_listed_with_its_file(put, tmp_path, group, kind, hint):
    put("mle-agent-lost", "lost_agent", points=f"[{group}]\nlost = lost_agent\n")
    lost = found("lost", kind)
    assert lost.state == "broken"
    assert str(tmp_path / "site" / "mle_agent_lost-1.0.dist-info" / "entry_points.txt") in lost.reason
    assert hint in lost.reason


@pytest.mark.parametrize("value", ["dummy", "agents:dummy", "agent:", ":dummy", "agent:one;agent:two", "\x1b"])
def test_a_setting_that_disables_nothing_is_an_error(put, monkeypatch, value):
    put("mle-agent-one", "one_agent")
    monkeypatch.setenv("MLECORE_DISABLE_PLUGINS", value)
    discovery._all_plugins.cache_clear()
    if value == "agent:one;agent:two":  # a name that is not installed
        assert plugins("agent")
        assert discovery.disabled_in_vain() == [value]
    else:
        with pytest.raises(UsageError, match=r"MLECORE_DISABLE_PLUGINS names .* which is not KIND:NAME"):
            plugins("agent")


def test_named_plugins_are_switched_off(put, monkeypatch):
    put("mle-agent-one", "one_agent", BOMB)
    put("mle-agent-two", "two_agent")
    put("mle-detector-two", "two_detector", DETECTOR, kind="detector")
    monkeypatch.setenv("MLECORE_DISABLE_PLUGINS", "agent:one, agent:two")
    discovery._all_plugins.cache_clear()
    for name in ("one", "two"):
        assert (found(name).state, found(name).reason) == ("disabled", "named in MLECORE_DISABLE_PLUGINS")
    assert found("two", "detector").state == "ok"


def test_metadata_that_is_damaged_harms_nobody_else(put, tmp_path):
    put("mle-agent-fine", "fine_agent")
    put("mle-agent-nohead", "nohead_agent")
    site = tmp_path / "site"
    (site / "mle_agent_nohead-1.0.dist-info" / "METADATA").unlink()
    put("mle-agent-garbage", "garbage_agent", points="[mlecore.agents]\n= nothing\nno value\n")
    (site / "mle_agent_empty-1.0.dist-info").mkdir()
    discovery._all_entries.cache_clear()
    discovery._all_plugins.cache_clear()
    assert found("fine").state == "ok"
    assert plugins("competition") is not None
