"""The agent of a task that names no other: inspect's react, with a shell and Python."""

from __future__ import annotations

from inspect_ai.agent import Agent, AgentState, agent, react
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.tool import bash, python

_COMMAND = 3600  # seconds that one command may take
_SILENT = 3  # answers in a row without a tool call, after which it ends

_PROMPT = """\
You are an expert in machine learning and work on a competition, alone. Use your tools to look at the data, to write
programs (keep them in /home/code) and to run them. Write a simple valid submission early, then improve it: measure each
idea on rows held out from the training data. Submit when nothing improves it any more.
"""


@agent
def competitor() -> Agent:
    """Works until it submits, a limit is reached, or the model stops calling tools."""
    return react(prompt=_PROMPT, tools=[bash(timeout=_COMMAND), python(timeout=_COMMAND)], on_continue=_goes_on)


async def _goes_on(state: AgentState) -> bool:
    last = [message for message in state.messages if isinstance(message, ChatMessageAssistant)][-_SILENT:]
    return len(last) < _SILENT or any(message.tool_calls for message in last)
