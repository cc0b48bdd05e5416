"""The default agent of the task set: a model with `bash`. It installs nothing in its box, unlike those of verifiers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import verifiers.v1 as vf

_PART = 100_000  # characters
_KILLED = (137, 143)  # exit codes after SIGKILL and SIGTERM


class ShellHarness(vf.Harness[vf.HarnessConfig]):
    APPENDS_SYSTEM_PROMPT = True

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Run program.py in the box until the model is done, or until its commands kill the program, too, as `pkill
        python` does: then its work so far counts."""
        system, prompt = self.resolve_text_prompt(data)
        messages = [
            {"role": role, "content": text} for role, text in (("system", system), ("user", prompt)) if text is not None
        ]
        given = json.dumps(messages)
        parts = [given[start : start + _PART] for start in range(0, len(given), _PART)]
        command = ["python3", "-I", "-c", _program(), endpoint, secret, ctx.model, *parts]
        done = await runtime.run_program(command, self.config.resolved_env)
        if done.exit_code in _KILLED and await runtime.alive():
            return vf.ProgramResult(exit_code=0, stdout=done.stdout, stderr=done.stderr)
        return done


@cache
def _program() -> str:
    return (Path(__file__).parent / "program.py").read_text(encoding="utf-8")
