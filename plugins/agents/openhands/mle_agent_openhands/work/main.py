"""OpenHands' agent from its SDK: one session, in the sandbox itself; a later one goes on with the conversation.

The prompt comes on standard input, the settings in the variable OPENHANDS_SETTINGS. The last line of the output has the
tokens of the whole conversation.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it looks for the newest on the network, and fails
os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"

HOME = Path(os.environ.get("MLECORE_HOME", "/home"))
STATE = HOME / "logs" / "openhands"
CONVERSATION = uuid.UUID(int=0x6D6C65636F7265)


def main() -> int:
    from openhands.sdk import LLM, Conversation
    from openhands.sdk.conversation.state import ConversationExecutionStatus
    from openhands.tools.preset.default import get_default_agent

    settings: dict[str, Any] = json.loads(os.environ["OPENHANDS_SETTINGS"])
    provider = settings["provider"]
    llm = LLM(
        model=f"{provider}/{settings['model']}",
        base_url=os.environ[f"{provider.upper()}_BASE_URL"],
        api_key=os.environ[f"{provider.upper()}_API_KEY"],
        temperature=settings["temperature"],
        num_retries=settings["retries"],
        usage_id="agent",
    )
    agent = get_default_agent(llm, cli_mode=True)  # without a browser
    terminals = {tool.name: {"terminal_type": "subprocess"} for tool in agent.tools if tool.name == "terminal"}
    tools = [tool.model_copy(update={"params": terminals.get(tool.name, tool.params)}) for tool in agent.tools]
    conversation = Conversation(
        agent=agent.model_copy(update={"tools": tools}),  # without tmux, which not every machine has
        workspace=HOME,
        persistence_dir=STATE,
        conversation_id=CONVERSATION,
        max_iteration_per_run=settings["steps"],
        visualizer=None,
        callbacks=[lambda event: print(event.model_dump_json(), flush=True)],
    )
    conversation.send_message(sys.stdin.read())
    try:
        conversation.run()
    finally:
        used = conversation.conversation_stats.get_combined_metrics()
        tokens = used.accumulated_token_usage
        counted = {
            "model": settings["model"],
            "input": tokens.prompt_tokens,
            "output": tokens.completion_tokens,
            "cost": used.accumulated_cost or None,
        }
        print(json.dumps({"usage": counted}), flush=True)
        status = conversation.state.execution_status
        conversation.close()
    return int(status == ConversationExecutionStatus.ERROR)


if __name__ == "__main__":
    sys.exit(main())
