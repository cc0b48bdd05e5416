"""An agent of inspect_ai on the task from standard input. Its tools run in this sandbox, which is why they are "local".

The settings come in the variable INSPECT_SETTINGS, the model's address and key in the variables that its client reads.
inspect's log is kept in logs/inspect/, the tokens of every call in logs/inspect.jsonl, how it ended in logs/outcome.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import clock
import ending

HOME = Path(os.environ.get("MLECORE_HOME", "/home"))
LOGS = HOME / "logs"


def main() -> str:
    """Returns the outcome."""
    settings: dict[str, Any] = json.loads(os.environ["INSPECT_SETTINGS"])
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalLog
    from inspect_ai.model import GenerateConfig, get_model

    provider = settings["model"].partition("/")[0]
    config = GenerateConfig(
        temperature=settings["temperature"], seed=settings["seed"] if provider == "openai" else None
    )
    arguments = {"responses_api": False} if provider == "openai" else {}  # endpoints besides OpenAI's lack it
    model = get_model(
        settings["model"], config=config, base_url=os.environ[f"{provider.upper()}_BASE_URL"], **arguments
    )
    left = clock.left()
    logs: list[EvalLog] = eval(
        Task(dataset=[Sample(input=sys.stdin.read())]),
        solver=solver(settings),
        model=model,
        sandbox="local",
        message_limit=settings["messages"],
        time_limit=max(1, int(left) - 5) if left < 10**9 else None,
        log_dir=str(LOGS / "inspect"),
        display="plain",
    )
    return outcome(logs[0])


def solver(settings: dict[str, Any]) -> Any:
    """react with a shell and Python, or the registered agent that the settings name, which brings its own tools."""
    if settings["agent"] != "react":
        from inspect_ai.solver import SolverSpec

        return SolverSpec(settings["agent"])
    from inspect_ai.agent import react
    from inspect_ai.tool import bash, python

    return react(
        prompt=f"Work in the folder {HOME}: begin each command with `cd {HOME}`, since they start elsewhere.",
        tools=[bash(timeout=settings["command_timeout"]), python(timeout=settings["command_timeout"])],
        on_continue=goes_on,
    )


async def goes_on(state: Any) -> bool:
    """False once the model has answered several times without a call that a tool took."""
    return len(unused(state.messages)) < ending.SILENT


def unused(messages: list[Any]) -> list[str]:
    """The text of the last answers without a call that a tool took, the latest first."""
    answers: list[str] = []
    for message in reversed(messages):
        if message.role == "tool" and (message.error is None or message.error.type != "parsing"):
            break
        if message.role == "assistant":
            answers.append(message.text)
    return answers


def outcome(log: Any) -> str:
    """How it ended, and a line for each call in logs/inspect.jsonl."""
    sample = log.samples[0] if log.samples else None
    with (LOGS / "inspect.jsonl").open("w", encoding="utf-8") as out:
        for event in sample.events if sample else ():
            if event.event == "model" and event.output.usage:
                used = event.output.usage
                cached = (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
                counted = {
                    "model": event.output.model,
                    "input": used.input_tokens + cached,
                    "output": used.output_tokens,
                }
                out.write(json.dumps({"usage": counted}) + "\n")
    error = (sample and sample.error) or log.error
    if error:
        said: str = error.message.rpartition(r"\n\n")[2]  # what stands before it repeats the request
        return f"no_answer: {said}"
    if sample is None:
        return "gave_up: inspect has no sample"
    if sample.limit:
        return "time_up" if sample.limit.type in ("time", "working") else "steps_used"
    if sample.output.stop_reason in ("content_filter", "model_length"):
        return f"no_answer: {sample.output.stop_reason}: {sample.output.completion[:500]}"
    submitted = any(getattr(event, "function", "") == "submit" and not event.error for event in sample.events)
    return "submitted" if submitted else ending.without_calls(unused(sample.messages))


if __name__ == "__main__":
    ending.report(main())
