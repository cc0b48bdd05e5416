"""A sandbox for inspect that needs bubblewrap alone: its own /home, /opt and /tmp, no network, no other files."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from inspect_ai.util import ExecResult, SandboxEnvironment, sandboxenv
from inspect_ai.util._subprocess import subprocess

_OWN = ("home", "opt", "tmp")


@sandboxenv(name="bubble")
class Bubble(SandboxEnvironment):
    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="bubble-"))
        for name in _OWN:
            (self.root / name).mkdir()

    @classmethod
    async def sample_init(cls, task_name: str, config: Any, metadata: dict[str, str]) -> dict[str, SandboxEnvironment]:
        return {"default": cls()}

    @classmethod
    async def sample_cleanup(
        cls, task_name: str, config: Any, environments: dict[str, SandboxEnvironment], interrupted: bool
    ) -> None:
        from mlecore.util import files

        for environment in environments.values():
            files.remove(environment.as_type(cls).root)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        binds = [part for name in _OWN for part in ("--bind", str(self.root / name), f"/{name}")]
        links = [part for name in ("bin", "lib", "lib64") for part in ("--symlink", f"usr/{name}", f"/{name}")]
        around = ["bwrap", "--ro-bind", "/usr", "/usr", *links, *binds, "--proc", "/proc", "--dev", "/dev"]
        around += ["--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin"]
        return await subprocess([*around, "--chdir", cwd or "/home", *cmd], input=input, timeout=timeout)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        await self.exec(["mkdir", "-p", str(Path(file).parent)])
        done = await self.exec(["sh", "-c", f"cat >{file}"], input=contents)
        assert done.success, done.stderr

    async def read_file(self, file: str, text: bool = True) -> Any:
        content = (self.root / file.lstrip("/")).read_bytes()
        return content.decode() if text else content
