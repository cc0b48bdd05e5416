"""What a plugin's text tells of the hooks that it implements."""

from __future__ import annotations

import pytest

from mlecore.registry import plugins
from mlecore.registry.inspection import implements

AGENT = """
from mlecore.hookspecs import hookimpl
@hookimpl
def agent(): ...
@hookimpl
def launch(task): ...
"""


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", False),
        ("def usage(logs): ...", None),
        ("@hookimpl\ndef usage(logs): ...", True),
        ("@hookimpl(specname='usage')\ndef tokens(logs): ...", True),
        ("try:\n    @hookimpl\n    def usage(logs): ...\nfinally:\n    pass", True),
        ("from os import getpid as usage", None),
        ("from os import *", None),
        ("usage = hookimpl(lambda logs: None)", None),
    ],
)
def test_a_hook_is_seen_in_the_text_or_left_to_importing(put, more, told):
    put("mle-agent-one", "one_agent", AGENT + more)
    [plugin] = [plugin for plugin in plugins("agent") if plugin.name == "one"]
    assert implements(plugin, "usage") is told
