"""The default agent of the task set: a model with `bash`. It installs nothing in its box, unlike those of verifiers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import verifiers.v1 as vf
from verifiers.v1.harnesses.utils.compaction import CONTEXT_OVERFLOW_MARKERS

_PART = 100_000  # characters


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
        """Run program.py in the box until the model is done."""
        system, prompt = self.resolve_text_prompt(data)
        messages = [
            {"role": role, "content": text} for role, text in (("system", system), ("user", prompt)) if text is not None
        ]
        given = json.dumps(messages)
        parts = [given[start : start + _PART] for start in range(0, len(given), _PART)]
        arguments = [endpoint, secret, ctx.model, json.dumps(CONTEXT_OVERFLOW_MARKERS), *parts]
        return await runtime.run_program(["python3", "-I", "-c", _program(), *arguments], self.config.resolved_env)


@cache
def _program() -> str:
    return (Path(__file__).parent / "program.py").read_text(encoding="utf-8")
