"""What every sandbox gets before the agent starts, whichever agent that is: data, instructions, validation."""

from __future__ import annotations

import asyncio
from pathlib import Path

from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sample_limits, sandbox

from mle_ext_inspect.setting import Setting
from mle_ext_inspect.upload import run, tree, upload
from mlecore.controller.experiment import Inputs
from mlecore.controller.instructions import hardware_words, instructions
from mlecore.controller.job import tools
from mlecore.model.agents import HOME
from mlecore.model.backends import TOOLS
from mlecore_jobs import INSIDE

TIME_LIMIT = 24 * 3600  # seconds, as in the published benchmark


def instructions_for(setting: Setting, time_limit: float) -> str:
    """The task's text, which is also the prompt."""
    hardware = hardware_words(setting.cpus, setting.memory, setting.gpus, None)
    return instructions(time_limit=time_limit, hardware=hardware, network=setting.network).text


@solver
def stage() -> Solver:
    """Fill the sandbox, and name the time limit that really applies in its instructions and in the prompt."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        from mlecore.util.scratch import scratch

        setting = Setting.from_json(state.metadata["setting"])
        inputs = await asyncio.to_thread(setting.inputs, state.metadata["competition"])
        text = instructions_for(setting, _time_limit())
        with scratch() as cache:
            await _fill(inputs, setting, text, cache)
        if state.user_prompt.text == state.input_text:  # else somebody's own prompt
            state.user_prompt.text = text
        return state

    return solve


def _time_limit() -> float:
    """Seconds that this sample may take, by its clock or by the time that it works, whichever ends first."""
    limits = sample_limits()
    return min((limit.limit for limit in (limits.time, limits.working) if limit.limit), default=TIME_LIMIT)


async def _fill(inputs: Inputs, setting: Setting, text: str, cache: Path) -> None:
    box = sandbox()
    if (await box.exec(["test", "-e", str(inputs.data.private)])).success:
        raise RuntimeError(f"the sandbox sees the answers in {inputs.data.private}: use one that hides this machine")
    files: dict[str, bytes | Path] = {f"{TOOLS}/{name}": content for name, content in tools(inputs, cache).items()}
    files[f"{HOME}/instructions.txt"] = text.encode()
    files[f"{HOME}/validate_submission.sh"] = INSIDE / "validate_submission.sh"
    if setting.delivery == "copy":
        files |= tree(inputs.data.public, f"{HOME}/data")
    await run(box, "mkdir", "-p", *(f"{HOME}/{name}" for name in ("submission", "code", "logs")))
    await upload(box, files)
    found = await box.exec(["test", "-e", f"{HOME}/data/description.md"])
    if not found.success:
        raise RuntimeError(
            f"the sandbox has no {HOME}/data/description.md: mount {inputs.data.public} there, or use -T delivery=copy"
        )
