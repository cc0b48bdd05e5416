"""The variables of a job's first process, the same on every backend; and its secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from mlecore.errors import BackendError, remember
from mlecore.model.agents import HOME
from mlecore.model.backends import TOOLS, Job
from mlecore.model.model_access import variables
from mlecore_jobs.relay import split_port

_TMP = PurePosixPath("/tmp")


def environment(
    job: Job,
    *,
    home: PurePosixPath = HOME,
    tools: PurePosixPath = TOOLS,
    user: str = "agent",
    user_home: PurePosixPath | None = None,
    tmp: PurePosixPath = _TMP,
    gpus: Sequence[str] | None = None,
    proxy: str | None = None,
    gateway: str | None = None,
) -> dict[str, str]:
    """All variables of a job's first process except PATH, those of an image, and secrets. The same on every backend.

    ``home``, ``tools`` and ``tmp`` are what the job sees; ``user_home`` is its HOME where that is another folder than
    ``home``. ``gpus`` are the ids of its GPUs as it sees them; None: its own only, counted from 0. ``proxy`` is the
    relay's URL under ``llm``, and ``gateway`` that of the gateway for a job with ``resources.model``.
    """
    resources = job.resources
    model = gateway if resources.model else None
    seen = [str(number) for number in range(resources.gpus)] if gpus is None else gpus
    env = {
        "HOME": str(user_home or home),
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TMPDIR": str(tmp),
        "CUDA_VISIBLE_DEVICES": ",".join(seen),
        **(_proxy_variables(proxy, resources.allow, model) if proxy else {}),
        **(variables(resources.model, job.name, model) if model and resources.model else {}),
        **job.env,
        "MLECORE_HOME": str(home),
        "MLECORE_OPT": str(tools),
        "MLECORE_TIME_LIMIT": f"{resources.time_limit:.2f}",
        "MLECORE_GRACE": f"{resources.grace:.2f}",
    }
    if resources.cpus is not None:
        env["MLECORE_CPUS"] = f"{resources.cpus:g}"
    if resources.memory is not None:
        env["MLECORE_MEMORY"] = str(resources.memory)
    return env


def _proxy_variables(proxy: str, allow: Sequence[str], gateway: str | None) -> dict[str, str]:
    """The job's own addresses bypass the relay, unless one is allowed as a host; the gateway's always does."""
    models = {split_port(pattern)[0].lower() for pattern in allow}
    own = {name: None for name in ("localhost", "127.0.0.1", "::1") if name not in models}
    around = ",".join(own | ({urlsplit(gateway).hostname or "": None} if gateway else {}))
    return {
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), proxy),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), around),
        "NODE_USE_ENV_PROXY": "1",  # without it Node.js ignores the others
    }


def secret_values(job: Job) -> dict[str, str]:
    """The secrets that a job asks for, from the environment of this process. They go to the job's environment only.

    Never into a log, a record, an image, a command line, or what the backend stores about the job. Raises BackendError.
    """
    for name in job.resources.secrets:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise BackendError(f"a secret of {job.name} has a name that no variable can have")
        if name not in os.environ:
            raise BackendError(f"{job.name} needs {name}, which is not set", fix=f"export {name}=...")
        remember(os.environ[name])
    return {name: os.environ[name] for name in job.resources.secrets}
