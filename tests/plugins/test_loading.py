"""Using a plugin loads that one, in its own manager; what breaks then names the plugin and the hook."""

from __future__ import annotations

import re
import sys

import pytest

from mlecore.errors import PluginError, UsageError
from mlecore.plugins import loading
from mlecore.plugins.loading import load, load_extensions
from mlecore.plugins.opening import open_backend
from mlecore_testing.site_packages import forget

EXTENSION = """
from mlecore.hookspecs import hookimpl

seen = []


@hookimpl
def run_started(run):
    seen.append(run)
"""


def test_each_has_a_manager_of_its_own_so_that_no_other_answers(put):
    put("mle-agent-one", "one_agent", AGENT.replace("SUMMARY", "the first"))
    put("mle-agent-two", "two_agent", AGENT.replace("SUMMARY", "the second"))
    one = load("agent", "one")
    assert "two_agent" not in sys.modules  # no other is imported
    two = load("agent", "two")
    assert sorted(one.hooks) == ["agent", "launch"] and not one.implements("usage")
    assert one.manager is not two.manager
    assert (one.call("agent").summary, two.call("agent").summary) == ("the first", "the second")
    assert one.manager.get_plugins() == {sys.modules["one_agent"]}


AGENT = """
from mlecore.model.agents import Agent, Launch
from mlecore.hookspecs import hookimpl


@hookimpl
def agent():
    return Agent(summary="SUMMARY")


@hookimpl
def launch(task):
    return Launch(argv=("true",))
"""


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("1 / 0\n" + AGENT, "fails to import: ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)\n" + AGENT, "SystemExit"),
        ("if True:\n    import no_such_module_here\n" + AGENT, "fails to import: "),
        (
            "from mlecore.hookspecs import hookimpl\nagent = launch = None\nfrom os import *\n",
            "lacks the required hook agent",
        ),
        (
            AGENT + "\n\ndef later(task=1): ...\n\n\nlaunch = hookimpl(later, specname='launch')\n",
            "the argument task has a default, so pluggy would not pass it",
        ),
        (AGENT + "\n\ndef later(job): ...\n\n\nlaunch = hookimpl(later, specname='launch')\n", "job"),
        (AGENT + "\n\n@hookimpl(specname='lunch')\ndef odd(task): ...\n", "lunch"),
    ],
    ids=[
        "an error at import",
        "an exit at import",
        "an import below an if",
        "hooks that are none",
        "a default",
        "an unknown argument",
        "an unknown hook",
    ],
)
def test_what_a_listing_could_not_see_breaks_on_loading(put, source, reason):
    put("mle-agent-broken", "broken_agent", source)
    with pytest.raises(PluginError, match=r"agent broken \(mle-agent-broken.*\) is broken") as caught:
        load("agent", "broken")
    assert reason in str(caught.value)


def test_an_unknown_name_offers_close_ones(put):
    put("mle-agent-baseball", "baseball_agent")
    with pytest.raises(UsageError, match=r"there is no agent called 'basebal'\nDid you mean .*baseball"):
        load("agent", "basebal")
    with pytest.raises(UsageError, match="Did you mean kubernetes"):
        load("backend", "kubernets")


@pytest.mark.parametrize(
    ("kind", "name", "package"),
    [
        ("competition", "spaceship-titanic", "mle-comp-spaceship-titanic"),
        ("competition", "AI4Code", "mle-comp-ai4code"),
        ("agent", "aide", "mle-agent-aide"),
        ("competition", "Xyzzy", None),
        ("competition", "https://example.org/titanic", None),
        ("competition", "spaceship-titanic,ai4code", None),
        ("backend", "k8s", None),
    ],
)
def test_only_packages_of_this_project_are_suggested(monkeypatch, kind, name, package):
    forget()
    monkeypatch.setattr(loading, "find", lambda *_: None)
    monkeypatch.setattr(loading, "names", lambda _: [])
    with pytest.raises(UsageError) as caught:
        load(kind, name)
    assert re.findall(r"pip install (\S+)", str(caught.value)) == ([package] if package else [])


def test_a_disabled_one_is_not_loaded(put, monkeypatch):
    put("mle-agent-off", "off_agent")
    monkeypatch.setenv("MLECORE_DISABLE_PLUGINS", "agent:off")
    forget()
    with pytest.raises(UsageError, match="agent off is disabled: named in MLECORE_DISABLE_PLUGINS"):
        load("agent", "off")
    assert "off_agent" not in sys.modules


def test_a_hook_that_fails_names_plugin_and_hook(put):
    file = put("mle-agent-bad", "bad_agent", AGENT.replace('return Agent(summary="SUMMARY")', "return {}['x']"))
    line = file.read_text().splitlines().index("    return {}['x']") + 1
    with pytest.raises(PluginError, match="agent bad: its hook agent failed: KeyError: 'x'") as caught:
        load("agent", "bad").call("agent")
    assert f"authors of mle-agent-bad 1.0: {file}, line {line}" in str(caught.value)


def test_a_hook_that_exits_does_not_end_the_command(put):
    put("mle-agent-bad", "bad_agent", AGENT.replace('return Agent(summary="SUMMARY")', "raise SystemExit(0)"))
    with pytest.raises(PluginError, match="agent bad: its hook agent failed: SystemExit: 0"):
        load("agent", "bad").call("agent")


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ("{'summary': 'x'}", r"the result is \{'summary': 'x'\} \(dict\); expected Agent"),
        ("None", r"the result is None \(NoneType\); expected Agent"),
        ("Agent(summary=7)", r"Agent.summary is 7 \(int\); expected str"),
        ("Agent(summary='x', options=['a'])", r"Agent.options is \['a'\] \(list\); expected tuple\[Option, ...\]"),
        ("Agent(summary='x', options=('a',))", r"Agent.options\[0\] is 'a' \(str\); expected Option"),
        ("Agent(summary='x', needs=Needs(gpus=True))", r"Needs.gpus is True \(bool\); expected int"),
        (
            "Agent(summary='x', needs=Needs(network='all'))",
            r"Needs.network is 'all' .*expected one of 'none', 'llm', 'open'",
        ),
    ],
)
def test_a_result_of_a_wrong_type_names_plugin_hook_and_file(put, returned, reason):
    source = AGENT.replace('Agent(summary="SUMMARY")', returned).replace("import Agent,", "import Agent, Needs,")
    file = put("mle-agent-bad", "bad_agent", source)
    with pytest.raises(PluginError, match=rf"agent bad: its hook agent returned a wrong value: {reason}") as caught:
        load("agent", "bad").call("agent")
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ("Launch(argv='true')", r"Launch.argv is 'true' \(str\); expected tuple\[str, ...\]"),
        ("Launch(argv=('true',), env={'A': 1})", r"Launch.env\['A' \(str\)\] is 1 \(int\); expected str"),
        ("('true',)", r"the result is \('true',\) \(tuple\); expected Launch or FinishedSubmission"),
    ],
)
def test_what_is_started_is_looked_at_too(put, returned, reason):
    put("mle-agent-bad", "bad_agent", AGENT.replace('Launch(argv=("true",))', returned))
    with pytest.raises(PluginError, match=reason):
        load("agent", "bad").call("launch", task=None)


BACKEND = """
from mlecore.hookspecs import hookimpl
from mlecore.model.options import Option


class Backend:
    summary = "nowhere"
    options = (Option(name="size", help="how large", type="integer", default="3"),)

    def __init__(self, options):
        self.given = options


@hookimpl
def backend(options):
    return KIND(options)
"""


def test_a_backend_is_opened_with_all_its_options(put):
    from mlecore.model.backends import Backend

    made = BACKEND.replace("class Backend:", "import mlecore.model.backends as m\n\n\nclass Mine(m.Backend):")
    put(
        "mle-backend-mine",
        "mine_backend",
        made.replace("KIND", "Mine") + "\n\nMine.__abstractmethods__ = frozenset()\n",
        kind="backend",
    )
    opened = open_backend("mine")
    assert isinstance(opened.backend, Backend)
    assert (opened.plugin.name, opened.options) == ("mine", {"size": "3"})
    assert open_backend("mine", {"size": "5"}).backend.given == {"size": "5"}
    with pytest.raises(UsageError, match="backend mine has no option 'colour'"):
        open_backend("mine", {"colour": "red"})
    with pytest.raises(UsageError, match="option size=big"):
        open_backend("mine", {"size": "big"})


def test_what_is_no_backend_is_not_opened(put):
    put("mle-backend-odd", "odd_backend", BACKEND.replace("KIND", "Backend"), kind="backend")
    with pytest.raises(PluginError, match=r"backend odd: its hook backend returned a wrong value.*expected Backend"):
        open_backend("odd")


def test_extensions_share_a_manager_and_a_broken_one_is_left_out(put):
    put("ext-one", "ext_one", EXTENSION, kind="extension", name="one")
    put("ext-two", "ext_two", EXTENSION, kind="extension", name="two")
    put("ext-bad", "ext_bad", "1 / 0\n" + EXTENSION, kind="extension", name="bad")
    put("ext-worse", "ext_worse", "from mlecore.hookspecs import hookimpl\n@hookimpl\ndef run_begun(): ...\n")
    manager, errors = load_extensions()
    manager.hook.run_started(run="a run")
    assert sys.modules["ext_one"].seen == sys.modules["ext_two"].seen == ["a run"]
    assert [str(error).partition(" (")[0] for error in errors] == ["extension bad"]
    assert manager.get_plugin("extension:bad") is None
