"""What cannot work is listed as broken with its reason, whatever its files are; nothing breaks the rest."""

from __future__ import annotations

import os
import sys

import pytest

from mlecore.errors import PluginError
from mlecore.model.plugin import Plugin
from mlecore.plugins import discovery
from mlecore.plugins.loading import load
from mlecore_testing.site_packages import forget


def found(name: str, kind: str = "agent") -> Plugin:
    plugin = discovery.find(kind, name)  # examines this one only, as a listing does each
    assert plugin
    return plugin


BROKEN = {
    "a syntax error": ("def agent(:\n", "fails to import: invalid syntax"),
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
    "a keyword-only argument": (
        "from mlecore.hookspecs import hookimpl\n@hookimpl\ndef launch(*, task): ...\n",
        "hook launch: the argument task is keyword-only",
    ),
    "an unknown argument": (
        "from mlecore.hookspecs import hookimpl\n@hookimpl\ndef launch(job): ...\n",
        "hook launch: unknown argument job; available: task",
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
        "import os.path, mlecore.model.agents\n",
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


def test_facts_that_do_not_fit_break_a_competition(put_competition):
    facts = put_competition("tiny").with_name("competition.toml")
    good = facts.read_text()

    def reason(text: str | None) -> str:
        facts.unlink(missing_ok=True)
        if text is not None:
            facts.write_text(text)
        forget()
        return found("tiny", "competition").reason

    assert "competition.toml is missing" in reason(None)
    assert reason(good) == ""
    assert "says id = 'other', the entry point 'tiny'" in reason(good.replace('"tiny"', '"other"'))
    up = reason(good.replace('"minimize"', '"up"'))
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
        said = reason(f"{good}\n{text}" if text.startswith("[") else f"{text}\n{good}")
        assert words in said and str(facts) in said
    assert "competition.toml" in reason("id = ")
    assert "metric" in reason(good.replace('metric = "rmse"', ""))
    assert "colour" in reason('colour = "blue"\n' + good)


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


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        *(("competition.toml", odd) for odd in ODD_FILES),
        *(("main.py", odd) for odd in ("missing", "a pipe", "a huge file")),
        ("description.md", "a device"),
    ],
)
def test_an_odd_file_breaks_its_competition_alone(put, put_competition, name, odd):
    file = put_competition("odd")
    put("mle-agent-fine", "fine_agent")
    (file.parent / name).unlink()
    ODD_FILES[odd](file.parent / name)
    forget()
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
        "x = " + "(" * 100_000,
        "x = a" + ".b" * 100_000,
        "if a: pass\n" + "elif b: pass\n" * 900 + "from mlecore.hookspecs import hookimpl\n",
        "x = " + "9" * 10_000,
    ],
    ids=["terms", "parentheses", "attributes", "branches", "a long number"],
)
def test_code_that_is_too_deep_breaks_its_plugin_alone(put, code):
    put("mle-agent-deep", "deep_agent", code)
    put("mle-agent-fine", "fine_agent")
    assert found("deep").state == "broken"
    assert len(found("deep").reason) < 400
    assert found("fine").state == "ok"
